package datasets

import (
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

func seed(f *testing.F, file string) []byte {
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
	f.Fuzz(func(t *testing.T, content []byte) { readSound(t, "x.json", content) })
}

// FuzzTorch reads whole files of torch.save, and any bytes as a sound one's pickle.
func FuzzTorch(f *testing.F) {
	for _, file := range []string{"data.pt", "dataset.pt", "dict.pt", "strides.pt", "half.pt", "bare.pt"} {
		f.Add(seed(f, file), pickleOf(f, file))
	}
	f.Fuzz(func(t *testing.T, whole, pickle []byte) {
		readSound(t, "x.pt", whole)
		readSound(t, "x.pt", withPickle(t, pickle))
	})
}

func FuzzOGB(f *testing.F) {
	f.Add("3\n", "2\n", "0,1\n1,2\n", "1,0\n0,0.5\n2,1\n", "0\n1\nnan\n", "0\n", "1\n", "\n")
	f.Add("1\n", "1\n", "0,0\n", "", "-1\n", "0\n", "0\n", "0\n")
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
