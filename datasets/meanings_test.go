package datasets

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the table of docs/FORMATS.md anew")

// meant is a graph of nodes a, b and c, with edges a–b and b–c, as each format writes it, and what must be read. Empty
// fields are written and expected as usual has them.
type meant struct {
	what, how string // the row of docs/FORMATS.md
	only      string // formats that can say it, by their names; "": all

	ids, class, x [3]string
	extra         string // another column, with values
	values        [3]string
	masks         [3][3]string // of the train, validation and test set
	weights       string       // of the edges, which have a column of this name
	weight        [2]string
	change        func(file string) string // of the text formats

	classes  []string
	labels   []int32
	nodes    []string // read as ids
	features []float32
	edges    int64
	splits   int
	note     string // a part of one of the notes
}

var usual = meant{ids: [3]string{"a", "b", "c"}, class: [3]string{"0", "1", "0"}, x: [3]string{"1", "2", "3"},
	classes: []string{"0", "1"}, labels: []int32{0, 1, 0}, nodes: []string{"a", "b", "c"}, features: []float32{1, 2, 3},
	edges: 2}

const (
	textFormats = "CSV, JSON, GraphML"
	withIDs     = textFormats + ", npz"
	withColumns = withIDs + ", .pt"
)

var meanings = []meant{
	{what: "`label`, `class`, `y` (npz: `labels`; .pt: `y`)", how: "the class; `PATH:label=club` takes another, not in OGB"},
	{what: "a number as a class", how: "its digits, also beyond 2^53 and 2^63; `2.0` is `2`",
		class: [3]string{"9007199254740993", "9007199254740992", "7"}, classes: []string{"7", "9007199254740992",
			"9007199254740993"}, labels: []int32{2, 1, 0}},
	{class: [3]string{"2.0", "1", "10.0"}, classes: []string{"1", "2", "10"}, labels: []int32{1, 0, 2}},
	{class: [3]string{"18446744073709551615", "-1", "7"}, classes: []string{"7", "18446744073709551615"},
		labels: []int32{1, -1, 0}, only: textFormats + ", OGB"},
	{what: "a second class", how: "left out and said", extra: "class", values: [3]string{"0", "1", "0"},
		note: `"class"`, only: withColumns},
	{what: "`NaN`, empty or null as a class", how: "unlabelled, and counted", class: [3]string{"NaN", "1", "0"},
		labels: []int32{-1, 1, 0}, note: "1 nodes have the class NaN or null: they are unlabelled"},
	{class: [3]string{"", "1", "0"}, labels: []int32{-1, 1, 0}, only: textFormats},
	{what: "`-1`, or `-100`, as a class", how: "unlabelled where all others are whole numbers from 0 up, else a class",
		class: [3]string{"-1", "0", "1"}, labels: []int32{-1, 0, 1}, note: "1 nodes have no class, or -1 where all others"},
	{class: [3]string{"-100", "0", "1"}, labels: []int32{-1, 0, 1}, note: "1 nodes have no class, or -100 where all"},
	{class: [3]string{"-1", "-2", "1"}, classes: []string{"-2", "-1", "1"}, labels: []int32{1, 0, 2}},
	{class: [3]string{"-1", "b", "c"}, classes: []string{"-1", "b", "c"}, labels: []int32{0, 1, 2}, only: withIDs},
	{what: "`train_mask`, `val_mask`, `test_mask`: true or false, or whole numbers",
		how: "the own split (`--split own`)", splits: 1,
		masks: [3][3]string{{"true", "false", "false"}, {"false", "true", "false"}, {"false", "false", "true"}}},
	{masks: [3][3]string{{"1", "0", "0"}, {"0", "2", "0"}, {"0", "0", "1"}}, splits: 1, only: withColumns},
	{what: "masks of several columns, or lists in JSON",
		how: "a split each, which trials take in turn; `PATH:mask=3` takes one, from 0",
		masks: [3][3]string{{"[true,false]", "[false,true]", "[false,false]"},
			{"[false,true]", "[true,false]", "[false,false]"}, {"false", "false", "true"}},
		splits: 2, note: "has 2 columns, a split each", only: "JSON, npz, .pt"},
	{what: "ids, row numbers, weights (of edges too), splits, other masks", how: "left out and said",
		extra: "weight", values: [3]string{"3", "4", "5"}, note: `"weight"`, only: withColumns},
	{extra: "valid_mask_2", values: [3]string{"1", "0", "1"}, note: `"valid_mask_2"`, only: withColumns},
	{extra: "idx_train", values: [3]string{"0", "1", "0"}, note: `"idx_train"`, only: withColumns},
	{extra: "node_name", values: [3]string{"0", "1", "2"}, note: `"node_name"`, only: withColumns},
	{what: "text, other than the class", how: "left out and said; in CSV if the first field is text",
		extra: "club", values: [3]string{"Hi", "Officer", "Hi"}, note: `"club"`, only: withColumns},
	{what: "`True` and `False` as features", how: "1 and 0", x: [3]string{"True", "False", "True"},
		features: []float32{1, 0, 1}},
	{what: "ids", how: "text; numbers keep their digits", only: withIDs,
		ids:   [3]string{"9007199254740993", "18446744073709551615", "9007199254740992"},
		nodes: []string{"9007199254740993", "18446744073709551615", "9007199254740992"}},
	{weights: "weight", weight: [2]string{"2", "0.5"}, note: "weight", only: withColumns},
	{what: "a stored 0 in an adjacency matrix", how: "no edge", weights: "weight", weight: [2]string{"2", "0"}, edges: 1,
		note: "2 entries are 0: no edges", only: "npz"},
	{what: "UTF-16; the `encoding=` of XML", how: "read", change: wide, only: textFormats},
	{change: func(file string) string {
		return strings.Replace(file, "<graphml", `<?xml version="1.0" encoding="us-ascii"?><graphml`, 1)
	}, only: "GraphML"},
	{what: "semicolons (with decimal commas) or tabs; any line ends", how: "found by the first line",
		change: func(file string) string {
			return strings.NewReplacer(".", ",").Replace(strings.NewReplacer(",", ";", "\n", "\r\n").Replace(file))
		}, x: [3]string{"1.5", "2", "3"}, features: []float32{1.5, 2, 3}, only: "CSV"},
	{change: func(file string) string { return strings.NewReplacer(",", "\t", "\n", "\r").Replace(file) }, only: "CSV"},
}

// writers write a graph in each format, for Open.
var writers = []struct {
	name  string
	write func(t *testing.T, dir string, m meant) (path string)
}{{"CSV", writeMeantCSV}, {"JSON", writeMeantJSON}, {"GraphML", writeMeantGraphML}, {"npz", writeMeantNPZ},
	{".pt", writeMeantTorch}, {"OGB", writeMeantOGB}}

func TestAMeaningIsOneInEveryFormat(t *testing.T) {
	for _, m := range meanings {
		m := m.filled()
		for _, format := range writers {
			if m.only != "" && !slices.Contains(strings.Split(m.only, ", "), format.name) {
				continue
			}
			t.Run(fmt.Sprintf("%s %v%v%s %s", m.what, m.class, m.extra, m.weight, format.name), func(t *testing.T) {
				g, err := Open(t.Context(), format.write(t, t.TempDir(), m), OpenOptions{})
				require.NoError(t, err)
				sound(t, g)
				assert.Equal(t, m.classes, g.Classes)
				assert.Equal(t, m.labels, g.Labels)
				assert.Equal(t, m.features, g.Features.Stored(false).Dense)
				assert.Equal(t, m.edges, g.Report.Edges)
				if g.NodeIDs != nil {
					assert.Equal(t, m.nodes, g.NodeIDs)
				}
				if assert.Len(t, g.OwnSplits, m.splits) && m.splits > 0 {
					assert.Equal(t, [][]int32{{0}, {1}, {2}}, [][]int32{g.OwnSplit.Train, g.OwnSplit.Validation, g.OwnSplit.Test})
				}
				assert.Contains(t, strings.Join(g.Notes, "\n"), m.note)
			})
		}
	}
	require.NoError(t, writeMeanings(filepath.Join("..", "docs", "FORMATS.md")))
}

// filled returns m with what the usual graph has in its empty fields.
func (m meant) filled() meant {
	orElse := func(list *[3]string, usual [3]string) {
		if *list == [3]string{} {
			*list = usual
		}
	}
	orElse(&m.ids, usual.ids)
	orElse(&m.class, usual.class)
	orElse(&m.x, usual.x)
	if m.classes == nil {
		m.classes = usual.classes
	}
	if m.labels == nil {
		m.labels = usual.labels
	}
	if m.nodes == nil {
		m.nodes = usual.nodes
	}
	if m.features == nil {
		m.features = usual.features
	}
	if m.edges == 0 {
		m.edges = usual.edges
	}
	return m
}

// writeMeanings compares the table in a file with meanings, or writes it.
func writeMeanings(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const head = "| what | how it is read | in |\n|---|---|---|\n"
	before, rest, found := strings.Cut(string(content), head)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		return fmt.Errorf("%s: expected a table that begins with %q", path, head)
	}
	var rows []string
	for _, m := range meanings {
		if m.what != "" {
			in := map[string]string{"": "all", withColumns: "all but OGB", withIDs: "all but .pt, OGB"}[m.only]
			if in == "" {
				in = m.only
			}
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |", m.what, m.how, in))
		}
	}
	want := before + head + strings.Join(rows, "\n") + "\n\n" + after
	if *update {
		return os.WriteFile(path, []byte(want), 0o666)
	}
	if want != string(content) {
		return fmt.Errorf("%s: its table is not that of this test: go test ./datasets -run Meaning -update", path)
	}
	return nil
}

var maskNames = [3]string{"train_mask", "val_mask", "test_mask"}

// columns returns the columns of nodes besides id and class, by name.
func (m meant) columns() (names []string, values [][3]string) {
	names, values = []string{"x"}, [][3]string{m.x}
	if m.extra != "" {
		names, values = append(names, m.extra), append(values, m.values)
	}
	for i, mask := range m.masks {
		if mask[0] != "" {
			names, values = append(names, maskNames[i]), append(values, mask)
		}
	}
	return names, values
}

func (m meant) text(file string) []byte {
	if m.change != nil {
		file = m.change(file)
	}
	return []byte(file)
}

func put(t *testing.T, path string, content []byte) string {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, content, 0o666))
	return path
}

func writeMeantCSV(t *testing.T, dir string, m meant) string {
	names, values := m.columns()
	nodes := "id,label," + strings.Join(names, ",") + "\n"
	for v := range 3 {
		nodes += m.ids[v] + "," + m.class[v]
		for _, column := range values {
			nodes += "," + column[v]
		}
		nodes += "\n"
	}
	edges := []string{"source,target", m.ids[0] + "," + m.ids[1], m.ids[1] + "," + m.ids[2]}
	if m.weights != "" {
		for i, w := range []string{m.weights, m.weight[0], m.weight[1]} {
			edges[i] += "," + w
		}
	}
	put(t, filepath.Join(dir, csvNodesFile), m.text(nodes))
	put(t, filepath.Join(dir, csvEdgesFile), m.text(strings.Join(edges, "\n")+"\n"))
	return dir
}

func writeMeantJSON(t *testing.T, dir string, m meant) string {
	value := func(text string) string {
		switch text {
		case "True", "False":
			return strings.ToLower(text)
		case "":
			return "null"
		case "NaN": // as Python writes it
			return text
		}
		if json.Valid([]byte(text)) {
			return text
		}
		return strconv.Quote(text)
	}
	names, values := m.columns()
	var nodes, links []string
	for v := range 3 {
		node := `{"id":` + value(m.ids[v]) + `,"label":` + value(m.class[v])
		for i, column := range values {
			node += fmt.Sprintf(",%q:%s", names[i], value(column[v]))
		}
		nodes = append(nodes, node+"}")
	}
	for i := range 2 {
		link := `{"source":` + value(m.ids[i]) + `,"target":` + value(m.ids[i+1])
		if m.weights != "" {
			link += fmt.Sprintf(",%q:%s", m.weights, m.weight[i])
		}
		links = append(links, link+"}")
	}
	return put(t, filepath.Join(dir, "g.json"), m.text(
		`{"nodes":[`+strings.Join(nodes, ",")+`],"links":[`+strings.Join(links, ",")+`]}`))
}

func writeMeantGraphML(t *testing.T, dir string, m meant) string {
	kind := func(column [3]string) string {
		kind := "long"
		for _, text := range column {
			_, err := strconv.ParseFloat(text, 64)
			switch {
			case strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
				kind = "boolean"
			case text != "" && err != nil:
				return "string"
			}
		}
		return kind
	}
	names, values := m.columns()
	names, values = append(names, "label"), append(values, m.class)
	head, body := "<graphml>", `<graph edgedefault="undirected">`
	for i, name := range names {
		head += fmt.Sprintf(`<key id="k%d" for="node" attr.name="%s" attr.type="%s"/>`, i, name, kind(values[i]))
	}
	head += fmt.Sprintf(`<key id="w" for="edge" attr.name="%s" attr.type="double"/>`, m.weights)
	for v := range 3 {
		body += fmt.Sprintf(`<node id="%s">`, m.ids[v])
		for i, column := range values {
			if column[v] != "" {
				body += fmt.Sprintf(`<data key="k%d">%s</data>`, i, column[v])
			}
		}
		body += "</node>"
	}
	for i := range 2 {
		body += fmt.Sprintf(`<edge source="%s" target="%s">`, m.ids[i], m.ids[i+1])
		if m.weights != "" {
			body += fmt.Sprintf(`<data key="w">%s</data>`, m.weight[i])
		}
		body += "</edge>"
	}
	return put(t, filepath.Join(dir, "g.graphml"), m.text(head+body+"</graph></graphml>"))
}

// asNumbers returns a column as booleans, as [3, 2] of them, as integers or as floats; nil: as text.
func asNumbers(column [3]string) any {
	var truths, lists []bool
	var whole []int64
	var floats []float64
	for _, text := range column {
		if truth, err := strconv.ParseBool(strings.ToLower(text)); err == nil && len(text) > 1 {
			truths = append(truths, truth)
		}
		var list []bool
		if json.Unmarshal([]byte(text), &list) == nil {
			lists = append(lists, list...)
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			whole = append(whole, n)
		}
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			floats = append(floats, x)
		}
	}
	switch {
	case len(truths) == 3:
		return truths
	case len(lists) == 6:
		return lists
	case len(whole) == 3:
		return whole
	case len(floats) == 3:
		return floats
	}
	return nil
}

func arrayOf(column [3]string, shape ...int) []byte {
	switch values := asNumbers(column).(type) {
	case []bool:
		if len(values) == 6 {
			shape = []int{3, 2}
		}
		return npy("|b1", shape, values)
	case []int64:
		return npy("<i8", shape, values)
	case []float64:
		return npy("<f8", shape, values)
	}
	return textArray(column)
}

func textArray(column [3]string) []byte {
	wide := make([]uint32, 3*20)
	for v, text := range column {
		for i, c := range []rune(text) {
			wide[20*v+i] = uint32(c)
		}
	}
	return npy("<U20", []int{3}, wide)
}

func writeMeantNPZ(t *testing.T, dir string, m meant) string {
	files := members{"adj_indptr": npy("<i8", []int{4}, []int64{0, 1, 3, 4}), "node_names": textArray(m.ids),
		"adj_indices": npy("<i8", []int{4}, []int64{1, 0, 2, 1}), "adj_shape": npy("<i8", []int{2}, []int64{3, 3}),
		"labels": arrayOf(m.class, 3), "attr_matrix": arrayOf(m.x, 3, 1)}
	names, values := m.columns()
	for i, name := range names[1:] {
		files[name] = arrayOf(values[i+1], 3)
	}
	if m.weights != "" {
		w := [2]float64{}
		for i := range w {
			w[i], _ = strconv.ParseFloat(m.weight[i], 64)
		}
		files["adj_data"] = npy("<f8", []int{4}, []float64{w[0], w[0], w[1], w[1]})
	}
	return put(t, filepath.Join(dir, "g.npz"), files.Zip(zip.Deflate))
}

// torchOf returns a file of torch.save of a dictionary of tensors and texts.
func torchOf(fields map[string]any, shapes map[string][]int) []byte {
	number := func(n int) string {
		return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n)))
	}
	text := func(s string) string {
		return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
	}
	files := map[string][]byte{}
	pickle := "\x80\x02}("
	for name, value := range fields {
		pickle += text(name)
		key := strconv.Itoa(len(files))
		data, kind, n := []byte{}, "", 0
		switch values := value.(type) {
		case []int64:
			kind, n = "Long", len(values)
			data, _ = binary.Append(nil, binary.LittleEndian, values)
		case []float64:
			kind, n = "Double", len(values)
			data, _ = binary.Append(nil, binary.LittleEndian, values)
		case []bool:
			kind, n = "Bool", len(values)
			data, _ = binary.Append(nil, binary.LittleEndian, values)
		case string:
			pickle += text(values)
			continue
		}
		files["g/data/"+key] = data
		shape, strides := "(", "("
		if shapes[name] == nil {
			shapes[name] = []int{n}
		}
		stride := n
		for _, size := range shapes[name] {
			stride /= size
			shape, strides = shape+number(size), strides+number(stride)
		}
		pickle += "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + kind + "Storage\n" + text(key) +
			text("cpu") + number(n) + "tQK\x00" + shape + "t" + strides + "t\x89ccollections\nOrderedDict\n)RtR"
	}
	files["g/data.pkl"] = []byte(pickle + "u.")
	return zipped(zip.Store, files)
}

func writeMeantTorch(t *testing.T, dir string, m meant) string {
	fields := map[string]any{"edge_index": []int64{0, 1, 1, 2, 1, 0, 2, 1}, "x": asNumbers(m.x), "y": asNumbers(m.class)}
	names, values := m.columns()
	for i, name := range names[1:] {
		if fields[name] = asNumbers(values[i+1]); fields[name] == nil {
			fields[name] = strings.Join(values[i+1][:], " ")
		}
	}
	shapes := map[string][]int{"edge_index": {2, 4}, "x": {3, 1}}
	for name, value := range fields {
		if list, ok := value.([]bool); ok && len(list) == 6 {
			shapes[name] = []int{3, 2}
		}
	}
	if m.weights != "" {
		fields["edge_weight"] = []float64{2, 2, math.Pi, math.Pi}
	}
	return put(t, filepath.Join(dir, "g.pt"), torchOf(fields, shapes))
}

func writeMeantOGB(t *testing.T, dir string, m meant) string {
	lines := func(column [3]string) []byte { return gzipped(strings.Join(column[:], "\n") + "\n") }
	files := map[string][]byte{"raw/num-node-list.csv.gz": gzipped("3\n"), "raw/num-edge-list.csv.gz": gzipped("4\n"),
		"raw/edge.csv.gz": gzipped("0,1\n1,0\n1,2\n2,1\n"), "raw/node-feat.csv.gz": lines(m.x),
		"raw/node-label.csv.gz": lines(m.class)}
	if m.masks[0][0] != "" {
		for v, file := range []string{"train", "valid", "test"} {
			files["split/time/"+file+".csv.gz"] = gzipped(strconv.Itoa(v) + "\n")
		}
	}
	for file, content := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(file)), content)
	}
	return dir
}

func TestAColumnOfTextThatMayBeTheClassIsNamed(t *testing.T) {
	g := readText(t, "karate.graphml", `<graphml><key id="club" for="node" attr.type="string"/><graph `+
		`edgedefault="undirected"><node id="1"><data key="club">Hi</data></node><node id="2"><data key="club">Officer</data>`+
		`</node><node id="3"><data key="club">Hi</data></node></graph></graphml>`)
	assert.Equal(t, []string{`GraphML key "club" of type string: left out. It has 2 different texts: PATH:label=club makes ` +
		`it the class`}, g.Notes)
}

func TestWhatMeansSomethingIsNoFeature(t *testing.T) {
	g, err := csvFrom(t, "id,label,x,LABEL,id,train_mask,valid_mask,test_mask,val_mask,class,Unnamed: 0,weight,split,y\n"+
		"a,0,1,0,7,1,0,0,0,0,0,1,0,0\nb,1,2,1,8,0,1,0,0,1,1,1,1,1\nc,1,3,1,9,0,0,1,1,1,2,1,2,1\n", "source,target\na,b\n")
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, g.FeatureNames)
	require.NotNil(t, g.OwnSplit)
	assert.Equal(t, []int32{1}, g.OwnSplit.Validation)
	assert.Equal(t, []string{`column "LABEL": left out: the class is "label", and a second one would tell it`,
		`column "id": left out: by its name it is an id and no feature`,
		`column "val_mask": left out: by its name it is a mask and no feature`,
		`column "class": left out: the class is "label", and a second one would tell it`,
		`column "Unnamed: 0": left out: by its name it is a row number and no feature`,
		`column "weight": left out: by its name it is a weight and no feature`,
		`column "split": left out: by its name it is a split and no feature`,
		`column "y": left out: the class is "label", and a second one would tell it`}, g.Notes)
	for file, content := range map[string]string{
		"g.json": `{"nodes":[{"id":"a","club":1,"label":0,"train_mask_2":1,"weight":2,"x":1}],"links":[]}`,
		"g.graphml": `<graphml><key id="club" for="node" attr.type="int"/><key id="label" for="node" attr.type="int"/>` +
			`<key id="x" for="node" attr.type="int"/><graph edgedefault="directed"><node id="a"><data key="club">1</data>` +
			`<data key="label">0</data><data key="x">1</data></node></graph></graphml>`,
	} {
		g := readText(t, file, strings.ReplaceAll(content, "club", "class"))
		assert.Equal(t, []string{"x"}, g.FeatureNames, file)
	}
}
