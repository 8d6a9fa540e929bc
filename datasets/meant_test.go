package datasets

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
