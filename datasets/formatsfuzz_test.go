package datasets

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

func readSound(t *testing.T, file string, content []byte) {
	g, err := ReadMemory(t.Context(), "", map[string][]byte{file: content})
	requireSound(t, file+": ", g, err)
}

// requireSound requires a sound graph, or a one-line error that begins with the file.
func requireSound(t *testing.T, file string, g *Graph, err error) {
	if err != nil {
		if !strings.HasPrefix(err.Error(), file) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("the error does not begin with the file, or takes several lines: %q", err)
		}
		return
	}
	sound(t, g)
	if g.OwnSplit != nil {
		if err := g.OwnSplit.check(g); err != nil {
			t.Fatal(err)
		}
	}
	Describe(g)
}

func seed(f testing.TB, file string) []byte {
	content, err := os.ReadFile(fixture(file))
	if err != nil {
		f.Fatal(err)
	}
	return content
}

func FuzzGraphML(f *testing.F) {
	f.Add(seed(f, "directed.graphml"))
	f.Add([]byte(`<graphml><key id="c" for="node" attr.name="y" attr.type="int"><default>1</default></key><graph ` +
		`edgedefault="undirected"><edge source="b" target="a"/><node id="a"><data key="c">-1</data></node><node ` +
		`id="b"/></graph></graphml>`))
	f.Add([]byte(`<graphml><key id="t" for="node" attr.name="train_mask" attr.type="boolean"/><graph ` +
		`edgedefault="directed"><node id="a"><data key="t">true</data></node></graph></graphml>`))
	const body = `<graphml><key id="m" for="all" attr.name="val_mask" attr.type="int"/><key id="d" attr.name="x" ` +
		`attr.type="double"><default>2</default></key><key id="s" for="node" attr.name="club" attr.type="string"/>` +
		`<key id="z" for="edge" attr.type="long"/><graph edgedefault="undirected"><node id="\xe9"><data key="m">1</data>` +
		`<data key="s">\xfc</data><desc/></node><node id="2"><data key="s">NaN</data><data key="d"><b/></data></node>` +
		`<edge source="2" target="\xe9" directed="true"><data key="z">7</data></edge></graph></graphml>`
	for _, charset := range []string{"us-ascii", "ISO-8859-1", "Windows-1252", "cp1251", "koi8-r", "UTF8", "EBCDIC"} {
		f.Add([]byte(`<?xml version="1.0" encoding="` + charset + `"?>` + body))
	}
	f.Add([]byte(wide(`<?xml version="1.0" encoding="UTF-16"?>` + strings.ToValidUTF8(body, "é"))))
	f.Fuzz(func(t *testing.T, content []byte) { readSound(t, "x.graphml", content) })
}

func FuzzNodeLink(f *testing.F) {
	f.Add(seed(f, "directed.json"))
	f.Add([]byte(
		`{"links":[{"source":1,"target":2}],"nodes":[{"id":1,"x":[0,1],"y":2},{"id":2,"class":"a","t":"b","f":true,` +
			`"z":{"a":[]}}]}`))
	f.Add([]byte(
		`{"directed":true,"nodes":[{"id":1,"y":1,"train_mask":1},{"id":2,"y":1e300,"val_mask":true},{"id":3,"y":0.5,` +
			`"test_mask":1}],"edges":[]}`))
	f.Add([]byte(`{"nodes":[{"id":"\"NaN","y":NaN,"train_mask":[true,false]},{"id":9007199254740993,"y":-1,` +
		`"val_mask":[1,0],"x":null},{"id":3.5,"y":true,"test_mask":[1,1],"x":[1,"b"]}],"multigraph":true,"graph":{"a":[[1]]},` +
		`"links":[{"source":"\"NaN","target":3.5,"weight":2,"key":0}]}`))
	f.Add([]byte(wide(`{"nodes":[{"id":"é","label":"a"},{"id":"2"}],"edges":[]}`)))
	f.Fuzz(func(t *testing.T, content []byte) { readSound(t, "x.json", content) })
}

// newPickle is a dictionary of fields in the opcodes of protocols 4 and 5: a frame, texts of every length, values in
// the memo, globals off the stack, sets, bytes, and calls with keywords.
func newPickle(protocol byte) []byte {
	text := func(s string) string { return "\x8c" + string(byte(len(s))) + s + "\x94" }
	long := func(op byte, s string) string {
		return string([]byte{op}) + string(binary.LittleEndian.AppendUint64(nil, uint64(len(s)))) + s + "\x94"
	}
	global := func(module, name string) string { return text(module) + text(name) + "\x93\x94" }
	tensor := func(field, storage, view string) string {
		return text(field) + global("torch._utils", "_rebuild_tensor_v2") + "((" + text("storage") +
			global("torch", storage) + text("1") + text("cpu") + "K\x0ft\x94Q" + view + "\x89" +
			global("collections", "OrderedDict") + ")R\x94t\x94R\x94"
	}
	body := "}\x94(" + tensor("edge_index", "LongStorage", "K\x00K\x02K\x02\x86K\x02K\x01\x86") +
		tensor("y", "LongStorage", "K\x01K\x07\x85K\x01\x85") +
		tensor("train_mask", "LongStorage", "K\x00K\x07K\x02\x86K\x02K\x01\x86") +
		text("size") + global("torch", "Size") + "K\x01K\x02\x86\x85R" +
		text("set") + "\x8f\x94(K\x01\x8a\x02\x00\x01\x90" + text("frozen") + "(K\x01\x91" +
		long(0x8d, "long") + long(0x8e, "bytes") + text("array") + long(0x96, "\xff") +
		text("path") + global("pathlib", "PurePosixPath") + text("a") + "\x85}\x92K\x01b" +
		text("dtype") + global("torch", "float32") + text("none") + "N" + text("list") + "](K\x01\x88e" +
		text("again") + "h\x00" + text("number") + "G@\x02\x00\x00\x00\x00\x00\x00" + "u."
	return []byte("\x80" + string(protocol) + "\x95" +
		string(binary.LittleEndian.AppendUint64(nil, uint64(len(body)))) + body)
}

// FuzzTorch reads whole files of torch.save, and any bytes as a sound one's pickle.
func FuzzTorch(f *testing.F) {
	for _, file := range []string{"data.pt", "dataset.pt", "dict.pt", "strides.pt", "half.pt", "bare.pt"} {
		f.Add(seed(f, file), pickleOf(f, file))
	}
	for _, protocol := range []byte{4, 5} {
		f.Add([]byte("PK"), newPickle(protocol))
	}
	f.Fuzz(func(t *testing.T, whole, pickle []byte) {
		readSound(t, "x.pt", whole)
		readSound(t, "x.pt", withPickle(t, pickle))
	})
}

func FuzzOGB(f *testing.F) {
	f.Add("3\n", "2\n", "0,1\n1,2\n", "1,0\n0,0.5\n2,1\n", "0\n1\nnan\n", "0\n", "1\n", "\n")
	f.Add("1\n", "1\n", "0,0\n", "", "-1\n", "0\n", "0\n", "0\n")
	f.Add("3\n", "1\n", "2,0\n", "true\n1e3\n-2.5\n", "-1\n1.0\n\n", "0\n1\n", "1\n", "2\n")
	f.Fuzz(func(t *testing.T, nodes, listed, edges, features, labels, train, valid, test string) {
		dir := copyOGB(t, map[string][]byte{"raw/num-node-list.csv.gz": gzipped(nodes),
			"raw/num-edge-list.csv.gz": gzipped(listed), "raw/edge.csv.gz": gzipped(edges),
			"raw/node-feat.csv.gz": gzipped(features), "raw/node-label.csv.gz": gzipped(labels),
			"split/time/train.csv.gz": gzipped(train), "split/time/valid.csv.gz": gzipped(
				valid), "split/time/test.csv.gz": gzipped(test)})
		g, err := Open(t.Context(), dir, OpenOptions{})
		requireSound(t, dir, g, err)
	})
}
