package datasets

import (
	"archive/zip"
	"fmt"
	"path"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/formats"
	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/pickle"
	"nodemask/internal/memory"
)

// counted returns the least bytes, in steps of 64, that a reader must be allowed.
func counted(content string, read func(in *graphfile.File) error) int {
	return 64 * sort.Search(1<<16, func(limit int) bool {
		in := graphfile.Bytes("file", []byte(content))
		in.Budget = memory.NewBudget(int64(limit) - 256<<20/64) // less what every file may take
		return read(in) == nil
	})
}

// A ring of 64 nodes, each joined to the next four, with four features.
func TestEveryReaderCountsAllThatItKeeps(t *testing.T) {
	const nodes, edges = 64, 256
	var rows, pairs, jsonNodes, jsonEdges, xmlNodes, xmlEdges strings.Builder
	for v := range nodes {
		fmt.Fprintf(&rows, "n%02d,1,2,3,4,5\n", v)
		fmt.Fprintf(&jsonNodes, `,{"id":"n%02d","y":1,"a":2,"b":3,"c":4,"d":5}`, v)
		fmt.Fprintf(&xmlNodes, `<node id="n%02d"><data key="a">2</data><data key="b">3</data>`, v)
		xmlNodes.WriteString(`<data key="c">4</data><data key="d">5</data></node>`)
		for next := range edges / nodes {
			u := (v + next + 1) % nodes
			fmt.Fprintf(&pairs, "n%02d,n%02d\n", v, u)
			fmt.Fprintf(&jsonEdges, `,{"source":"n%02d","target":"n%02d"}`, v, u)
			fmt.Fprintf(&xmlEdges, `<edge source="n%02d" target="n%02d"/>`, v, u)
		}
	}
	keys := ""
	for _, key := range []string{"a", "b", "c", "d"} {
		keys += fmt.Sprintf(`<key id="%s" for="node" attr.name="%[1]s" attr.type="int"/>`, key)
	}
	csvNodes, csvEdges := "id,y,a,b,c,d\n"+rows.String(), "source,target\n"+pairs.String()
	asBytes := func(text string) *graphfile.File { return graphfile.Bytes("other", []byte(text)) }
	asTable := func(nodes, edges *graphfile.File) error {
		_, err := readCSV(t.Context(), func(file string) (*graphfile.File, error) {
			if file == csvNodesFile {
				return nodes, nil
			}
			return edges, nil
		}, "memory")
		return err
	}
	up := func(n, step int) int { return (n + step - 1) / step * step }
	builder := nodes*(96+3) + nodes*(64+4*16) + 4*(128+1) + edges*16 // ids, nodes with entries, attributes, edges
	got := counted(csvNodes, func(in *graphfile.File) error { return asTable(in, asBytes(csvEdges)) })
	require.Equal(t, nodes*(128+3+8+4*8), got, "nodes.csv")
	got = counted(csvEdges, func(in *graphfile.File) error { return asTable(asBytes(csvNodes), in) })
	require.Equal(t, edges*16, got, "edges.csv")
	json := `{"nodes":[` + jsonNodes.String()[1:] + `],"links":[` + jsonEdges.String()[1:] + `]}`
	got = counted(json, func(in *graphfile.File) error { _, err := formats.NodeLink(t.Context(), in); return err })
	require.Equal(t, up(builder, 64), got, "JSON")
	xml := `<graphml>` + keys + `<graph edgedefault="undirected">` + xmlNodes.String() + xmlEdges.String() +
		`</graph></graphml>`
	got = counted(xml, func(in *graphfile.File) error { _, err := formats.GraphML(t.Context(), in); return err })
	require.Equal(t, up(builder, 64), got, "GraphML")

	const values = 100
	sparse := tiny().With(members{"attr_data": npy("<f8", []int{values}, make([]float64, values)),
		"attr_indices": npy("<i4", []int{values}, make([]int32, values)),
		"attr_indptr":  npy("<i4", []int{4}, []int32{0, 50, 50, values})})
	dense := tiny().With(members{"attr_data": nil, "attr_matrix": npy("<f4", []int{3, 400}, make([]float32, 1200))})
	for name, m := range map[string]members{"sparse": sparse, "dense": dense} {
		want := 4*8 + 5*8 // adj_indptr, and edges
		if name == "sparse" {
			want += 4*8 + values*8 // attr_indptr, and columns and values
		} else {
			want += 4 * 1200
		}
		for member, array := range m {
			if member != "adj_shape" && (name == "sparse" || !strings.HasPrefix(member, "attr_") || member == "attr_matrix") {
				want += len(array)
			}
		}
		got := counted(string(m.Zip(zip.Store)), func(in *graphfile.File) error {
			_, err := formats.NPZ(t.Context(), in)
			return err
		})
		require.Equal(t, up(want, 64), got, name)
	}
	data := seed(t, "data.pt")
	files, name := membersOf(t, "data.pt")
	want := 0
	for file, content := range files {
		if file == name || path.Base(file) == "byteorder" || path.Base(path.Dir(file)) == "data" {
			want += len(content)
		}
	}
	_, err := pickle.Read(files[name], func(bytes int64) error { want += int(bytes); return nil })
	require.NoError(t, err)
	g, err := formats.Torch(t.Context(), graphfile.Bytes("data.pt", data))
	require.NoError(t, err)
	for range g.Pairs {
		want += 8
	}
	want += 4 * len(g.Features.Dense)
	got = counted(string(data), func(in *graphfile.File) error { _, err := formats.Torch(t.Context(), in); return err })
	require.Equal(t, up(want, 64), got, "PyTorch")
}
