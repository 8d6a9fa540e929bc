package datasets

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
