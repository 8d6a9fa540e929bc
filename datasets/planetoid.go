package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"nodemask/csr"
	"nodemask/datasets/internal/pickle"
	"nodemask/internal/ended"
	"nodemask/internal/memory"
)

// readPlanetoid reads a graph in Planetoid's layout.
//
// Nodes are the rows of allx, then those of tx at the places in test.index. A missing place (CiteSeer has 15: cited
// papers without text, with 16 edges) is a node without features and label.
//
// Errors name the file and the place; the published SHA-256 catches damage that still reads as a graph.
func readPlanetoid(ctx context.Context, open opener, name string, anyFiles bool) (*Graph, error) {
	published, ok := planetoidPublished[name]
	if !ok && !anyFiles {
		return nil, fmt.Errorf("%q is no graph of Planetoid: expected cora, citeseer or pubmed", name)
	}
	r := &planetoidReader{ctx: ctx, open: open, name: name, anyFiles: anyFiles}
	g, err := r.graph()
	if err != nil {
		return nil, err
	}
	if names := planetoidCoraClasses(); name == "cora" && len(names) == g.NumClasses() {
		g.Classes = names
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	if !anyFiles {
		found := planetoidCounts{g.NumNodes(), g.Features.Width, g.NumClasses(), g.Report.Listed, g.Report.SelfLoops,
			g.Report.Edges}
		if found != published {
			return nil, fmt.Errorf("graph %q of Planetoid: nodes, features, classes, pairs, self-loops and edges are "+
				"%v: expected %v", name, found, published)
		}
	}
	return g, nil
}

func planetoidName(files map[string][]byte) string {
	for file := range files {
		if parts := strings.SplitN(file, ".", 3); len(parts) == 3 && parts[0] == "ind" && len(files) > 1 {
			return parts[1]
		}
	}
	return ""
}

// The largest published file has 7.6 MB.
const maxPlanetoidFile = pickle.MaxSize

type planetoidReader struct {
	ctx      context.Context
	open     opener
	name     string
	anyFiles bool
}

func (r *planetoidReader) file(part string) string { return "ind." + r.name + "." + part }

func (r *planetoidReader) damaged(part string, err error) error {
	advice := ""
	if _, ok := planetoidPublished[r.name]; ok {
		advice = fmt.Sprintf(". The file is damaged: fetch it again with 'nodemask data fetch %s'", r.name)
	}
	return fmt.Errorf("%s: %w%s", r.file(part), err, advice)
}

// read returns wrong, the checksum's error, for the caller to return if the bytes can be parsed.
func (r *planetoidReader) read(part string) (data []byte, wrong, err error) {
	if err := ended.Err(r.ctx); err != nil {
		return nil, nil, err
	}
	name := r.file(part)
	f, err := r.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s is missing: expected it beside the other ind.%s files; "+
			"'nodemask data fetch %s' fetches them: %w", name, r.name, r.name, err)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if f.Size > maxPlanetoidFile {
		return nil, nil, r.damaged(part, fmt.Errorf("%d bytes: a Planetoid file needs far less", f.Size))
	}
	if err := memory.Fits(3 * f.Size); err != nil { // it is copied as it grows
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if data, err = io.ReadAll(io.LimitReader(f, f.Size)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if !r.anyFiles {
		i := slices.IndexFunc(allPlanetoidFiles[:], func(f File) bool { return f.Name == name })
		if sum, want := sha256.Sum256(data), allPlanetoidFiles[i].SHA256; hex.EncodeToString(sum[:]) != want {
			wrong = r.damaged(part, fmt.Errorf("SHA-256 is %x: expected %s", sum, want))
		}
	}
	return data, wrong, nil
}

// planetoidPart parses before the checksum counts, as only the parser knows where the damage is.
func planetoidPart[T any](r *planetoidReader, part string, read func(any) (T, error)) (t T, err error) {
	data, wrong, err := r.read(part)
	if err != nil {
		return t, err
	}
	v, err := pickle.Read(data)
	if err != nil {
		return t, r.damaged(part, err)
	}
	if wrong != nil {
		return t, wrong
	}
	if t, err = read(v); err != nil {
		return t, r.damaged(part, err)
	}
	return t, nil
}

func (r *planetoidReader) graph() (*Graph, error) {
	var features [3]Features
	var labels [3][]int32
	var classes [3]int
	for i, part := range []string{"", "t", "all"} {
		var err error
		if features[i], err = planetoidPart(r, part+"x", pickledFeatures); err != nil {
			return nil, err
		}
		labels[i], err = planetoidPart(r, part+"y", func(v any) (labels []int32, err error) {
			labels, classes[i], err = pickledLabels(v)
			return labels, err
		})
		if err != nil {
			return nil, err
		}
		if features[i].Rows != len(labels[i]) {
			return nil, r.damaged(part+"y", fmt.Errorf("%d rows beside %d in %s",
				len(labels[i]), features[i].Rows, r.file(part+"x")))
		}
		if features[i].Width != features[0].Width || classes[i] != classes[0] {
			return nil, r.damaged(part+"x", fmt.Errorf("%d features and %d classes: expected %d and %d, as in %s",
				features[i].Width, classes[i], features[0].Width, classes[0], r.file("x")))
		}
	}
	few, test, all := features[0], features[1], features[2]
	if few.Rows > all.Rows || !slices.Equal(labels[0], labels[2][:few.Rows]) ||
		!slices.Equal(few.Offsets, all.Offsets[:few.Rows+1]) ||
		!slices.Equal(few.Columns, all.Columns[:len(few.Columns)]) || !slices.Equal(few.Values,
		all.Values[:len(few.Values)]) {
		return nil, r.damaged("x", fmt.Errorf("its %d rows and labels are not the first of %s", few.Rows, r.file("allx")))
	}
	rows, err := planetoidPart(r, "graph", pickledNeighbours)
	if err != nil {
		return nil, err
	}
	places, err := r.testIndex(all.Rows, test.Rows, len(rows))
	if err != nil {
		return nil, err
	}
	g := &Graph{Name: r.name, Source: "ind." + r.name + ".*"}
	g.Features, g.Labels = assemble(all, test, labels[2], labels[1], places)
	g.Classes = numbered(classes[0])
	g.Edges, g.Report, err = joinNeighbours(rows)
	if err != nil {
		return nil, r.damaged("graph", err)
	}
	return g, nil
}

func (r *planetoidReader) testIndex(first, rows, nodes int) ([]int, error) {
	data, wrong, err := r.read("test.index")
	if err != nil {
		return nil, err
	}
	fail := func(format string, args ...any) error {
		return r.damaged("test.index", fmt.Errorf(format, args...))
	}
	if first+rows > nodes {
		return nil, r.damaged("graph", fmt.Errorf("%d nodes: expected at least %d, one for each row of allx and tx",
			nodes, first+rows))
	}
	places := make([]int, nodes-first)
	for i := range places {
		places[i] = -1
	}
	row := 0
	for n, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		text := strings.TrimSuffix(string(line[:min(len(line), 20)]), "\r")
		node, err := strconv.Atoi(text)
		switch {
		case err != nil || len(line) > 20:
			return nil, fail("line %d: %q: expected a node's number", n+1, text)
		case node < first || node >= nodes:
			return nil, fail("line %d: node %d: expected %d to %d", n+1, node, first, nodes-1)
		case places[node-first] >= 0:
			return nil, fail("line %d: node %d was listed before", n+1, node)
		}
		places[node-first] = row
		row++
	}
	if row != rows {
		return nil, fail("%d lines: expected %d, one for each row of tx", row, rows)
	}
	return places, wrong
}

func assemble(all, test Features, allLabels, testLabels []int32, places []int) (Features, []int32) {
	f := Features{Rows: all.Rows + len(places), Width: all.Width}
	f.Offsets = slices.Clone(all.Offsets)
	f.Columns = slices.Clone(all.Columns)
	f.Values = slices.Clone(all.Values)
	labels := slices.Clone(allLabels)
	for _, row := range places {
		label := Unlabelled
		if row >= 0 {
			begin, end := test.Offsets[row], test.Offsets[row+1]
			f.Columns = append(f.Columns, test.Columns[begin:end]...)
			f.Values = append(f.Values, test.Values[begin:end]...)
			label = testLabels[row]
		}
		f.Offsets = append(f.Offsets, int64(len(f.Columns)))
		labels = append(labels, label)
	}
	return f, labels
}

// joinNeighbours restores the source's list: rows list pairs at both nodes and self-loops twice, so it takes the upper
// half and every second loop.
func joinNeighbours(rows [][]int32) (*csr.Graph, csr.Report, error) {
	every := func(yield func(int32, int32) bool) {
		for v, row := range rows {
			for _, u := range row {
				if !yield(int32(v), u) {
					return
				}
			}
		}
	}
	directed, _, err := csr.FromSeq(len(rows), every, csr.Options{Directed: true})
	if err != nil {
		return nil, csr.Report{}, err
	}
	for v, u := range directed.All() {
		if !directed.HasEdge(u, v) {
			return nil, csr.Report{}, fmt.Errorf("node %d lists node %d, but not the other way round", v, u)
		}
	}
	return csr.FromSeq(len(rows), func(yield func(int32, int32) bool) {
		for v, row := range rows {
			loops := 0
			for _, u := range row {
				if u == int32(v) {
					loops++
				}
				if (u > int32(v) || u == int32(v) && loops%2 == 1) && !yield(int32(v), u) {
					return
				}
			}
		}
	}, csr.Options{})
}

type planetoidCounts struct {
	nodes, features, classes int
	listed, selfLoops, edges int64 // pairs in the file, self-loops among them, distinct edges
}

var planetoidPublished = map[string]planetoidCounts{
	"cora":     {2_708, 1_433, 7, 5_429, 0, 5_278},
	"citeseer": {3_327, 3_703, 6, 4_732, 124, 4_552},
	"pubmed":   {19_717, 500, 3, 44_338, 3, 44_324},
}

// planetoidCoraClasses names Planetoid's class numbers after LINQS's Cora, the same graph: papers match by features,
// degree and neighbours.
func planetoidCoraClasses() []string {
	return []string{"Theory", "Reinforcement_Learning", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods",
		"Case_Based", "Rule_Learning"}
}

const planetoidURL = "https://github.com/kimiyoung/planetoid/raw/master/data/"

func planetoidFiles(name string) []File {
	var files []File
	for _, f := range allPlanetoidFiles {
		if strings.HasPrefix(f.Name, "ind."+name+".") {
			f.URL = planetoidURL + f.Name
			files = append(files, f)
		}
	}
	return files
}

// Read only.
var allPlanetoidFiles = [...]File{
	{Name: "ind.cora.x", Size: 22119, SHA256: "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"},
	{Name: "ind.cora.y", Size: 4054, SHA256: "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"},
	{Name: "ind.cora.tx", Size: 148025, SHA256: "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"},
	{Name: "ind.cora.ty", Size: 28135, SHA256: "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"},
	{Name: "ind.cora.allx", Size: 257305, SHA256: "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"},
	{Name: "ind.cora.ally", Size: 47959, SHA256: "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"},
	{Name: "ind.cora.graph", Size: 59847, SHA256: "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"},
	{Name: "ind.cora.test.index", Size: 5000, SHA256: "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"},
	{Name: "ind.citeseer.x", Size: 31087, SHA256: "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"},
	{Name: "ind.citeseer.y", Size: 3014, SHA256: "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"},
	{Name: "ind.citeseer.tx", Size: 260321, SHA256: "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"},
	{Name: "ind.citeseer.ty", Size: 24135, SHA256: "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"},
	{Name: "ind.citeseer.allx", Size: 595021, SHA256: "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"},
	{Name: "ind.citeseer.ally", Size: 55623, SHA256: "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"},
	{Name: "ind.citeseer.graph", Size: 61987, SHA256: "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"},
	{Name: "ind.citeseer.test.index", Size: 5000,
		SHA256: "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"},
	{Name: "ind.pubmed.x", Size: 23172, SHA256: "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"},
	{Name: "ind.pubmed.y", Size: 854, SHA256: "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"},
	{Name: "ind.pubmed.tx", Size: 405505, SHA256: "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"},
	{Name: "ind.pubmed.ty", Size: 12135, SHA256: "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"},
	{Name: "ind.pubmed.allx", Size: 7578385, SHA256: "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"},
	{Name: "ind.pubmed.ally", Size: 224739, SHA256: "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"},
	{Name: "ind.pubmed.graph", Size: 471808, SHA256: "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"},
	{Name: "ind.pubmed.test.index",
		Size: 6000, SHA256: "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"},
}
