package datasets

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
)

// The graph of testdata/make_formats.py.
var (
	fixtureIDs      = []string{"ann", "bob", "cy", "dan", "eve", "fay", "gus", "hal"}
	fixtureLabels   = []int32{1, 0, 1, Unlabelled, 0, 1, 0, Unlabelled}
	fixtureFeatures = []float32{1, 0.5, 0, -2, 3, 0, 0, 0, 0.25, 1, 1, 1, 2, 0, 0, 4}
	fixtureEdges    = [][]int32{{1, 3, 4}, {0, 2}, {1, 3}, {0, 2}, {0, 5}, {4, 6}, {5}, {}}
)

func rowsOf(g *csr.Graph) [][]int32 {
	rows := make([][]int32, g.NumNodes())
	for v := range rows {
		rows[v] = append([]int32{}, g.Neighbours(int32(v))...)
	}
	return rows
}

func fixture(name string) string {
	return filepath.Join("testdata", "formats", filepath.FromSlash(name))
}

func openFixture(t *testing.T, name string) *Graph {
	t.Helper()
	g, err := Open(t.Context(), fixture(name), OpenOptions{})
	require.NoError(t, err)
	sound(t, g)
	assert.Equal(t, fixtureEdges, rowsOf(g.Edges))
	return g
}

func TestEachFormatGivesTheGraphThatItsOwnLibraryWrote(t *testing.T) {
	named, numbered := []string{"ant", "cat"}, []string{"0", "1"}
	once := csr.Report{Listed: 8, SelfLoops: 1, Edges: 7}
	minus := []string{"2 nodes have no class, or -1 where all others are 0 or more: they are unlabelled"}
	both := csr.Report{Listed: 15, SelfLoops: 1, Duplicates: 7, Edges: 7}
	leftOut := func(attribute string) []string {
		return []string{attribute + ` "weight" of edges: left out`, attribute + ` "nick" of type string: left out`}
	}
	for _, c := range []struct {
		file, format string
		ids, classes []string
		directed     bool
		notes        []string
		report       csr.Report
	}{
		{"undirected.graphml", "GraphML", fixtureIDs, named, false, leftOut("GraphML key"), once},
		{"directed.graphml", "GraphML", fixtureIDs, named, true, leftOut("GraphML key"), once},
		{"undirected.json", "node-link JSON", fixtureIDs, named, false, leftOut("attribute"), once},
		{"directed.json", "node-link JSON", fixtureIDs, named, true, leftOut("attribute"), once},
		{"data.pt", "PyTorch Geometric", nil, numbered, false, minus, both},
		{"dataset.pt", "PyTorch Geometric", nil, numbered, false, minus, both},
		{"pair.pt", "PyTorch Geometric", nil, numbered, false, minus, both},
		{"dict.pt", "PyTorch Geometric", nil, numbered, false, minus, both},
		{"ogb", "Open Graph Benchmark", nil, numbered, true, []string{"2 nodes have the class NaN or null: they are unlabelled",
			`"raw/node_year.csv.gz": left out`}, once},
	} {
		t.Run(c.file, func(t *testing.T) {
			g := openFixture(t, c.file)
			assert.Equal(t, c.format, g.Format)
			assert.Equal(t, strings.TrimSuffix(c.file, filepath.Ext(c.file)), g.Name)
			assert.Equal(t, c.ids, g.NodeIDs)
			assert.Equal(t, fixtureLabels, g.Labels)
			assert.Equal(t, c.classes, g.Classes)
			assert.Equal(t, fixtureFeatures, g.Features.Stored(false).Dense)
			assert.Equal(t, c.directed, g.Directed)
			assert.Equal(t, c.notes, g.Notes)
			assert.Equal(t, c.report, g.Report)
			require.NotNil(t, g.OwnSplit)
			assert.Equal(t, []int32{0, 1}, g.OwnSplit.Train)
			assert.Equal(t, []int32{2, 4}, g.OwnSplit.Validation)
			assert.Equal(t, []int32{5, 6}, g.OwnSplit.Test)
			assert.Equal(t, 33, g.OwnSplit.TrainPercent)
		})
	}
}

func TestFeaturesHaveTheNamesThatTheirFileGivesThem(t *testing.T) {
	for file, want := range map[string][]string{"undirected.graphml": {"a", "b"}, "directed.json": {"a", "b"},
		"data.pt": nil, "ogb": nil} {
		assert.Equal(t, want, openFixture(t, file).FeatureNames, file)
	}
	g, err := csvFrom(t, "id,y,b,train_mask,a\n1,0,2,1,3\n", tinyEdges[:strings.Index(tinyEdges, "\n")+1])
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a"}, g.FeatureNames)
	g, err = csvFrom(t, "id,y,b,b\n1,0,2,3\n", "source,target\n")
	require.NoError(t, err)
	assert.Nil(t, g.FeatureNames, "two share a name")
	named := tiny().With(members{"attr_names": npy("|S1", []int{2}, "eb")})
	g, err = ReadMemory(t.Context(), "", map[string][]byte{"a.npz": named.Zip(zip.Store)})
	require.NoError(t, err)
	assert.Equal(t, []string{"e", "b"}, g.FeatureNames)
	named = tiny().With(members{"attr_names": npy("|S1", []int{3}, "ebc")})
	_, err = ReadMemory(t.Context(), "", map[string][]byte{"a.npz": named.Zip(zip.Store)})
	assert.ErrorContains(t, err, `member "attr_names": shape [3]: expected [2]`)
}

func TestReadersStopWhenTheContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, read := range map[string]func() (*Graph, error){
		"CSV": func() (*Graph, error) {
			return readCSV(ctx, opens(fstest.MapFS{csvNodesFile: {Data: []byte(tinyNodes)}}), "")
		},
		"edges": func() (*Graph, error) {
			return readSingle(ctx, graphfile.Bytes("a.txt", []byte(strings.Repeat("a b\n", 5000))))
		},
		"npz":       func() (*Graph, error) { return readSingle(ctx, graphfile.Bytes("a.npz", tiny().Zip(zip.Store))) },
		"Planetoid": func() (*Graph, error) { return readPlanetoid(ctx, folder(t.TempDir()), "cora", "") },
	} {
		_, err := read()
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

func TestOtherTensorsOfPyTorchGeometric(t *testing.T) {
	// doubles in Fortran order, 32-bit indices, float labels [nodes, 1], an edge_attr
	g := openFixture(t, "strides.pt")
	assert.Equal(t, fixtureFeatures, g.Features.Stored(false).Dense)
	assert.Equal(t, fixtureLabels, g.Labels)
	assert.True(t, g.Directed)
	assert.Nil(t, g.OwnSplit)
	assert.Equal(t, []string{`field "edge_attr" (a tensor): left out`,
		"2 nodes have no class, or -1 where all others are 0 or more: they are unlabelled"}, g.Notes)

	// 16-bit features, 8-bit labels, two splits as columns, the first with only a train set
	g = openFixture(t, "half.pt")
	assert.Equal(t, fixtureFeatures, g.Features.Stored(false).Dense)
	assert.Equal(t, fixtureLabels, g.Labels)
	assert.Nil(t, g.OwnSplit)
	assert.Equal(t, []string{
		"2 nodes have no class, or -1 where all others are 0 or more: they are unlabelled",
		`field "train_mask" has 2 columns, a split each: trials with the own split take one after the other; ` +
			`PATH:mask=k takes one, counted from 0`,
		"the split of train_mask, val_mask and test_mask, number 0: left out: its validation set is empty"}, g.Notes)

	g, err := Open(t.Context(), fixture("bare.pt"), OpenOptions{})
	require.NoError(t, err)
	assert.Equal(t, 7, g.NumNodes(), "as many as edge_index names")
	assert.Zero(t, g.Features.Width)
	assert.Equal(t, []string{`field "name" (a string): left out`, `no field "x": the nodes have no features`,
		`no field "y": the nodes have no classes`}, g.Notes)
}

func TestFilesOfPyTorchThatHoldNoOneGraphSaySo(t *testing.T) {
	for file, says := range map[string]string{
		"two.pt": "two.pt: data.pkl: a list of 2: expected one graph",
		"expanded.pt": `expanded.pt: field "x": a tensor of shape [8 1000], strides [0 0], from 0: expected elements within ` +
			`its storage of 1, and each once: save a copy of it (.clone())`,
		"module.pt": `module.pt: data.pkl: of type "Linear" from "torch.nn.modules.linear", which is not read, as nothing ` +
			`is ever run: expected a Data object`,
	} {
		_, err := Open(t.Context(), fixture(file), OpenOptions{})
		require.ErrorContains(t, err, says)
	}
}

// membersOf returns a zip's members, and the name of its pickle.
func membersOf(t testing.TB, file string) (members map[string][]byte, pickle string) {
	r, err := zip.OpenReader(fixture(file))
	require.NoError(t, err)
	defer r.Close()
	members = map[string][]byte{}
	for _, m := range r.File {
		f, err := m.Open()
		require.NoError(t, err)
		members[m.Name], err = io.ReadAll(f)
		require.NoError(t, err)
		if path.Base(m.Name) == "data.pkl" {
			pickle = m.Name
		}
	}
	return members, pickle
}

func withPickle(t testing.TB, pickle []byte) []byte {
	members, name := membersOf(t, "data.pt")
	members[name] = pickle
	return zipped(zip.Store, members)
}

func pickleOf(t testing.TB, file string) []byte {
	members, name := membersOf(t, file)
	return members[name]
}

func TestPicklesOfProtocols4And5AreRead(t *testing.T) {
	for _, protocol := range []byte{4, 5} {
		g, err := ReadMemory(t.Context(), "", map[string][]byte{"x.pt": withPickle(t, newPickle(protocol))})
		require.NoError(t, err)
		require.Equal(t, 7, g.NumNodes())
		require.Contains(t, g.Notes, `field "path" (of type "PurePosixPath" from "pathlib", which is not read, as nothing is `+
			`ever run): left out`)
		require.Contains(t, g.Notes, `field "set" (of type "set" from "builtins", which is not read, as nothing is ever `+
			`run): left out`)
	}
}

func TestHostilePicklesOfPyTorchAreErrorsThatNameTheByte(t *testing.T) {
	good := pickleOf(t, "data.pt")
	changed := func(old, replacement string) []byte {
		require.True(t, bytes.Contains(good, []byte(old)), "%q", old)
		return bytes.Replace(good, []byte(old), []byte(replacement), 1)
	}
	const tensor = "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nLongStorage\nX\x01\x00\x00" +
		"\x001X\x03\x00\x00\x00cpuK\x0ftQ"
	edges := func(view string) []byte {
		return []byte("\x80\x02}X\x0a\x00\x00\x00edge_index" + tensor + view + "\x89ccollections\nOrderedDict\n)RtRs.")
	}
	const outside = "expected elements within its storage of 15, and each once"
	for name, c := range map[string]struct {
		pickle []byte
		says   string
	}{
		"system call": {[]byte("cos\nsystem\nX\x04\x00\x00\x00exit\x85R."),
			`data.pkl: of type "system" from "os", which is not read, as nothing is ever run`},
		"builtin": {[]byte("\x80\x02c__builtin__\neval\nX\x01\x00\x00\x001\x85R."),
			`of type "eval" from "__builtin__", which is not read`},
		"numpy's list": {[]byte("\x80\x02cnumpy\nndarray\n."), "data.pkl: ndarray: expected a Data object"},
		"a global of protocol 4": {[]byte("\x80\x04\x8c\x02os\x8c\x06system\x93."),
			`data.pkl: of type "system" from "os", which is not read, as nothing is ever run`},
		"protocol 6": {[]byte("\x80\x06."), "byte 0: pickle protocol 6: expected 0 to 5"},
		"STACK_GLOBAL": {[]byte("\x80\x02U\x02osU\x06system\x93."),
			`data.pkl: of type "system" from "os", which is not read`},
		"INST":   {[]byte("(ios\nsystem\n."), "byte 1: opcode 0x69"},
		"OBJ":    {[]byte("(cos\nsystem\no."), "byte 12: opcode 0x6f"},
		"EXT1":   {[]byte("\x82\x01."), "byte 0: opcode 0x82"},
		"PERSID": {[]byte("Pstorage\n."), "byte 0: opcode 0x50"},
		"tuples of tuples": {append(append([]byte("N"), bytes.Repeat([]byte("\x85"), 1<<24)...), '.'),
			"this pickle's values take more than 268 MB"},
		"memo bomb": {append([]byte("]q\x00"),
			bytes.Repeat([]byte("(h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00lq\x000"),
				1<<20)...), "this pickle's values take more than 268 MB"},
		"a list in itself": {[]byte("]q\x00h\x00a."), "data.pkl: a list: expected a Data object of PyTorch Geometric"},
		"a dictionary in itself": {[]byte("}q\x00X\x0a\x00\x00\x00edge_indexh\x00s."),
			`field "edge_index" is a dictionary: expected a tensor`},
		"Data in itself": {[]byte("ctorch_geometric.data.data\nData\n)\x81q\x00}X\x06\x00\x00\x00_storeh\x00sb."),
			"an object of class Data: expected a Data object of PyTorch Geometric"},
		"no storage": {[]byte("\x80\x02}X\x0a\x00\x00\x00edge_indexctorch._utils\n_rebuild_tensor_v2\n(NK\x00K\x02K\x02\x86K" +
			"\x01K\x01\x86tRs."), "expected a storage, an offset, and equally many"},
		"a storage of -1 elements": {bytes.Replace(edges("K\x00K\x02K\x02\x86K\x01K\x01\x86"), []byte("cpuK\x0f"),
			[]byte("cpuJ\xff\xff\xff\xff"), 1), `expected ("storage", type, key, device, elements)`},
		"a huge shape": {edges("K\x00K\x02J\xff\xff\xff\x7f\x86K\x01K\x01\x86"),
			outside},
		"a shape that overflows": {edges(
			"K\x00\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x86K\x00K\x00\x86"),
			outside},
		"strides beyond": {edges("K\x00K\x02K\x02\x86K\x0eK\x01\x86"), outside},
		"a huge stride": {edges("K\x00K\x02K\x02\x86\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\x01\x86"),
			outside},
		"a negative stride": {edges("K\x01K\x02K\x02\x86J\xff\xff\xff\xffK\x01\x86"), outside},
		"a negative size":   {edges("K\x00K\x02J\xff\xff\xff\xff\x86K\x01K\x01\x86"), outside},
		"an offset beyond":  {edges("K\x0fK\x02K\x01\x86K\x01K\x01\x86"), outside},
		"a negative offset": {edges("J\xff\xff\xff\xffK\x02K\x01\x86K\x01K\x01\x86"), outside},
		"nine dimensions": {edges("K\x00(" + strings.Repeat("K\x01", 9) + "t(" + strings.Repeat("K\x01", 9) + "t"),
			"expected a tuple of at most 8"},
		"rows without columns": {[]byte("\x80\x02}(X\x0a\x00\x00\x00edge_index" + tensor +
			"K\x00K\x02K\x01\x86K\x01K\x01\x86\x89ccollections\nOrderedDict\n)RtRX\x01\x00\x00\x00x" + tensor + "K\x00J\xf0" +
			"\xff\xff\x7fK\x00\x86K\x00K\x01\x86\x89ccollections\nOrderedDict\n)RtRu."),
			`field "x": shape [2147483632 0] of int64: expected numbers [2, width]`},
		"nodes by a number alone": {[]byte("\x80\x02}(X\x0a\x00\x00\x00edge_index" + tensor +
			"K\x00K\x02K\x01\x86K\x01K\x01\x86\x89ccollections\nOrderedDict\n)RtRX\x09\x00\x00\x00num_nodesJ\xf0\xff\xff" +
			"\x7fu."), "num_nodes makes 2147483632 nodes: expected 0 to 1000016 beside 1 edges"},
		"a storage elsewhere": {changed("X\x01\x00\x00\x000", "X\x0b\x00\x00\x00../../../00"),
			`no member "data/data/../../../00"`},
		"another class": {changed("torch_geometric.data.data\nData\n", "torch_geometric.data.data\nDato\n"),
			`of type "Dato" from "torch_geometric.data.data", which is not read`},
		"cut":                {good[:len(good)/2], "the file ends"},
		"more after its end": {append(bytes.Clone(good), '.'), "1 bytes follow the end of the pickle"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadMemory(t.Context(), "", map[string][]byte{"x.pt": withPickle(t, c.pickle)})
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "x.pt: ")
		})
	}
}

func TestHostileGraphMLAndJSONAreErrorsThatNameThePlace(t *testing.T) {
	const graphml = `<graphml><key id="c" for="node" attr.name="class" attr.type="string"/><key id="x" for="node" ` +
		`attr.name="x" attr.type="double"/><graph edgedefault="undirected">`
	for _, c := range []struct{ file, content, says string }{
		{"a.graphml", "", "a.graphml: line 1, column 1: no element: expected <graphml>"},
		{"a.graphml", "<html></html>", "found <html>: expected one <graphml>"},
		{"a.graphml", graphml, "line 1, column "},
		{"a.graphml", "<graphml><graph>", `edgedefault="": expected "directed" or "undirected"`},
		{"a.graphml", "<graphml></graphml>", "no <graph>: expected one"},
		{"a.graphml", graphml + "</graph></graphml>", "no nodes: expected at least one"},
		{"a.graphml", graphml + "<node/>", "the id is empty"},
		{"a.graphml", graphml + `<node id="1"/><node id="1"/>`, `the id "1" is there already (node 0, counted from 0)`},
		{"a.graphml", graphml + `<node id="1"/><edge source="1" target="2"/></graph></graphml>`,
			`an edge names node "2", which the file does not have`},
		{"a.graphml", graphml + `<node id="1"><data key="y">1</data></node>`, `the key "y" is not declared for nodes`},
		{"a.graphml", graphml + `<node id="1"><data key="x">much</data></node>`,
			`GraphML key "x": found "much": expected a number, as its type double says`},
		{"a.graphml", graphml + `<node id="1"><data key="x">1e40</data></node>`,
			`GraphML key "x": found 1e+40: expected a finite number that fits 32 bits`},
		{"a.graphml", graphml + `<node id="1"><data key="x">NaN</data></node>`, `expected a finite number`},
		{"a.graphml", graphml + `<node id="1"><data key="x">1</data><data key="x">2</data></node>`,
			`GraphML key "x" is there twice at one node`},
		{"a.graphml", graphml + `<node id="1"><data key="c">a</data><data key="c">b</data></node>`,
			`GraphML key "class" is there twice at one node`},
		{"a.graphml", graphml + `<node id="1"><graph edgedefault="directed"></graph></node>`, "a graph in a node"},
		{"a.graphml", graphml + `</graph><graph edgedefault="directed">`, "a second <graph>"},
		{"a.graphml", graphml + "\n<hyperedge/>", "line 2, column 13: a hyperedge: expected edges of two nodes"},
		{"a.graphml", graphml + strings.Repeat("<a>", 100), "nested 65 deep: expected at most 64"},
		{"a.graphml", graphml + `<node id="` + strings.Repeat("a", 5000) + `"/>`,
			"an id of 5000 bytes: expected at most 4096"},
		{"a.graphml", graphml + `<node id="` + strings.Repeat("a", 17<<20) + `"/>`, "a tag or text of more than 16 MiB"},
		{"a.graphml", `<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>` + graphml + `<node id="&b;"/>`,
			"not XML: invalid character entity &b;"},
		{"a.json", "", "a.json: byte 0: the file ends too early"},
		{"a.json", "[]", "the file is a list: expected an object"},
		{"a.json", "{]", "not JSON"},
		{"a.json", "{}", `expected "nodes" and "links" (or "edges")`},
		{"a.json", `{"nodes":[],"links":[]}`, "no nodes"},
		{"a.json", `{"nodes":[],"links":[]} 7`, "a number follows the end of the graph"},
		{"a.json", `{"nodes":[],"nodes":[],"links":[]}`, `"nodes" is there twice`},
		{"a.json", `{"links":[],"edges":[]}`, `both "links" and "edges" are there: expected one of them`},
		{"a.json", `{"nodes":[7]}`, "a node is a number: expected an object"},
		{"a.json", `{"nodes":[{"x":1}]}`, `a node without "id"`},
		{"a.json", `{"nodes":[{"id":[1,2]}]}`, "an id is a list: expected text or a number"},
		{"a.json", `{"nodes":[{"id":1},{"id":"1"}]}`, `byte 29: the id "1" is there already`},
		{"a.json", `{"nodes":[{"id":1,"x":1e400}]}`, `attribute "x": found "1e400": expected a finite number`},
		{"a.json", `{"nodes":[{"id":1,"x":1,"x":2}]}`, `attribute "x" is there twice at one node`},
		{"a.json", `{"nodes":[{"id":1}],"links":[{"source":1}]}`, `an edge lacks "source" or "target"`},
		{"a.json", `{"nodes":[{"id":1}],"links":[{"source":1,"target":2}]}`, `an edge names node "2"`},
		{"a.json", `{"graph":` + strings.Repeat("[", 10_000), "nested 65 deep: expected at most 64"},
		{"a.json", `{"nodes":[{"id":"` + strings.Repeat("a", 5000) + `"}]}`, "an id of 5000 bytes"},
		{"a.json", `{"nodes":[{"id":"` + strings.Repeat("a", 17<<20) + `"}]}`, "a text or number of more than 16 MiB"},
		{"a.json", `{"directed":1}`, `"directed" is a number: expected true or false`},
		{"a.graphml", defaults(2000, 2000), "defaults of 2000 keys at each node: expected values at the nodes themselves"},
	} {
		_, err := ReadMemory(t.Context(), "", map[string][]byte{c.file: []byte(c.content)})
		require.ErrorContains(t, err, c.says, "%.100s", c.content)
		require.NotContains(t, err.Error(), "\n")
	}
}

// defaults returns GraphML in which each node has each key's default.
func defaults(keys, nodes int) string {
	var b strings.Builder
	b.WriteString("<graphml>")
	for k := range keys {
		fmt.Fprintf(&b, `<key id="k%d" for="node" attr.type="int"><default>1</default></key>`, k)
	}
	b.WriteString(`<graph edgedefault="undirected">`)
	for v := range nodes {
		fmt.Fprintf(&b, `<node id="%d"/>`, v)
	}
	b.WriteString("</graph></graphml>")
	return b.String()
}

func readText(t *testing.T, file, content string) *Graph {
	t.Helper()
	g, err := ReadMemory(t.Context(), "", map[string][]byte{file: []byte(content)})
	require.NoError(t, err)
	sound(t, g)
	return g
}

func TestAttributesOfNodesBecomeFeaturesClassesAndNotes(t *testing.T) {
	g := readText(t, "a.JSON", `{"nodes": [
		{"id": 1, "y": 2.0, "x": [0, 1.5], "flag": true, "far": {"a": [1]}, "mixed": 1, "words": ["a", 1], "label": "one"},
		{"id": 2.5, "y": -1, "x": [4, 0], "mixed": "one"},
		{"id": "c", "y": null}], "links": [{"source": 1, "target": 2.5, "key": 0}, {"source": 2.5, "target": 1}],
		"made": "by hand"}`)
	assert.Equal(t, []string{"1", "2.5", "c"}, g.NodeIDs)
	assert.Equal(t, []string{"one"}, g.Classes, "label comes before y")
	assert.Equal(t, []float32{0, 1.5, 1, 4, 0, 0, 0, 0, 0}, g.Features.Stored(false).Dense)
	assert.Equal(t, csr.Report{Listed: 2, Duplicates: 1, Edges: 1}, g.Report)
	assert.Equal(t, []string{
		`"made": left out: expected nodes, links or edges, directed, multigraph and graph`,
		`attribute "y": left out: the class is "label", and a second one would tell it`,
		`attribute "x[0]": 1 of 3 nodes lack it: 0 there`,
		`attribute "x[1]": 1 of 3 nodes lack it: 0 there`,
		`attribute "flag": 2 of 3 nodes lack it: 0 there`,
		`attribute "far" of type object: left out`,
		`attribute "mixed" of type string: left out`,
		`attribute "words" of type list: left out`,
		"1 of 3 nodes have no features: zeros there",
	}, g.Notes)

	g = readText(t, "a.graphml", `<?xml version="1.0"?>
		<g:graphml xmlns:g="http://graphml.graphdrawing.org/xmlns">
		<key id="k" for="all" attr.name="Label" attr.type="int"><default> 3 </default></key><key id="z" attr.type="xs:date"/>
		<graph edgedefault="undirected"><edge source="b" target="a" directed="true"><data key="k">9</data></edge>
		<node id="a"><data key="k">-1</data></node><node id="b"><data key="z"/><port/></node></graph></g:graphml>`)
	assert.True(t, g.Directed, "an edge of it is")
	assert.Equal(t, []string{"a", "b"}, g.NodeIDs)
	assert.Equal(t, []string{"3"}, g.Classes)
	assert.Equal(t, []int32{Unlabelled, 0}, g.Labels)
	assert.Equal(t, []string{`GraphML key "Label" of edges: left out`,
		"1 nodes have no class, or -1 where all others are 0 or more: they are unlabelled", `GraphML key "z" of type "xs:date": left out`},
		g.Notes)
	assert.Equal(t, "its edges have a direction, or not all are listed in both: each is taken both ways, as the models "+
		"need", g.Remarks()[0])
}

func TestAnOwnSplitThatCannotBeIsLeftOutWithTheReason(t *testing.T) {
	for masks, says := range map[string]string{
		`"train_mask":1,"val_mask":1`: `the split of train_mask, val_mask and test_mask: left out: node "a" is in the ` +
			`train and the validation set`,
		`"train_mask":1`: "the split of train_mask, val_mask and test_mask: left out: its validation set is " +
			"empty",
	} {
		g := readText(t, "a.json", `{"nodes":[{"id":"a","class":"x",`+masks+`}],"links":[]}`)
		assert.Nil(t, g.OwnSplit)
		assert.Equal(t, []string{says}, g.Notes)
	}
	g := readText(t, "a.json", `{
		"nodes":[{"id":1,"class":"x","train_mask":true},{"id":2,"train_mask":true},
		{"id":3,"class":"x","val_mask":true},{"id":4,"class":"x","test_mask":true},{"id":5,"class":"y"}],"links":[]}`)
	assert.Equal(t, []int32{0}, g.OwnSplit.Train)
	assert.Equal(t, []string{"the split of train_mask, val_mask and test_mask: 1 of its nodes have no label and are " +
		"left out of it"}, g.Notes)
}

// copyOGB copies the fixture with changed files; "" removes one.
func copyOGB(t *testing.T, changes map[string][]byte) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(fixture("ogb"))))
	for name, content := range changes {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if content == nil {
			require.NoError(t, os.Remove(path))
			continue
		}
		require.NoError(t, os.WriteFile(path, content, 0o666))
	}
	return dir
}

func TestHostileFoldersOfTheOpenGraphBenchmark(t *testing.T) {
	for name, c := range map[string]struct {
		changes map[string][]byte
		says    string
	}{
		"a node beyond": {map[string][]byte{"raw/edge.csv.gz": gzipped("0,1\n0,8\n")},
			`edge.csv.gz: line 2: found "8": expected a whole number from 0 to 7`},
		"a negative node": {map[string][]byte{"raw/edge.csv.gz": gzipped("0,-1\n")}, `edge.csv.gz: line 1: found "-1"`},
		"a long number": {map[string][]byte{"raw/edge.csv.gz": gzipped("0,99999999999999999999999999\n")},
			`edge.csv.gz: line 1: found "99999999999999999999999999"`},
		"too few edges": {map[string][]byte{"raw/edge.csv.gz": gzipped("0,1\n")},
			"edge.csv.gz: 1 edges: expected 8, as raw/num-edge-list.csv.gz says"},
		"three columns": {map[string][]byte{"raw/edge.csv.gz": gzipped("0,1,2\n")}, "line 1: 3 columns: expected 2"},
		"several graphs": {map[string][]byte{"raw/num-node-list.csv.gz": gzipped("4\n4\n")},
			"num-node-list.csv.gz: 2 lines: expected one, as there is one graph"},
		"no nodes": {map[string][]byte{"raw/num-node-list.csv.gz": gzipped("0\n")}, "0 nodes: expected 1 to"},
		"a billion nodes": {map[string][]byte{"raw/num-node-list.csv.gz": gzipped("1000000000\n"),
			"raw/node-feat.csv.gz": nil, "raw/node-label.csv.gz": nil},
			"raw/num-node-list.csv.gz makes 1000000000 nodes: expected 0 to 1000128 beside 8 edges"},
		"a feature missing": {map[string][]byte{"raw/node-feat.csv.gz": gzipped("1,2\n3\n")},
			"node-feat.csv.gz: line 2: 1 columns: expected 2, as in the first line"},
		"rows missing": {map[string][]byte{"raw/node-feat.csv.gz": gzipped("1,2\n")},
			"node-feat.csv.gz: 1 lines: expected 8, one a node"},
		"rows too many": {map[string][]byte{"raw/node-feat.csv.gz": gzipped(strings.Repeat("1\n", 9))},
			"line 9: more lines than the 8 nodes"},
		"infinity": {map[string][]byte{"raw/node-feat.csv.gz": gzipped("1,inf\n")},
			`line 1: column 2: found "inf": expected a finite number`},
		"two labels": {map[string][]byte{"raw/node-label.csv.gz": gzipped("0,1\n")},
			"line 1: 2 labels a node: expected one class"},
		"half a label": {map[string][]byte{"raw/node-label.csv.gz": gzipped("0.5\n")},
			`line 1: found the label "0.5": expected a whole number`},
		"no split file": {map[string][]byte{"split/time/test.csv.gz": nil}, "test.csv.gz: no such file or directory"},
		"not gzip":      {map[string][]byte{"raw/edge.csv.gz": []byte("0,1\n")}, "edge.csv.gz: not a gzip file"},
		"a bomb": {map[string][]byte{"raw/node-feat.csv.gz": gzipped(strings.Repeat("0\n", 40<<20))},
			"more lines than the 8 nodes"},
		"a bomb of a line": {map[string][]byte{"raw/node-feat.csv.gz": gzipped(strings.Repeat("0,", 40<<20))},
			"line 1: a line of more than 16 MiB: expected less"},
		"damaged": {map[string][]byte{"raw/edge.csv.gz": damaged(gzipped("0,1\n"))},
			"edge.csv.gz: line 2: gzip: invalid checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), copyOGB(t, c.changes), OpenOptions{})
			require.ErrorContains(t, err, c.says)
		})
	}
}
