package datasets

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"nodemask/csr"
)

// SOURCES.md says where these files are from.
//
//go:embed embedded/*.bin
var embedded embed.FS

// Cora returns LINQS's citation graph Cora, embedded in the program: 2,708 papers, 5,278 edges, 1,433 binary word
// features, 7 classes.
//
// NodeIDs are paper numbers, in the order of LINQS's cora.content; classes are sorted by name. Planetoid's Cora, which
// [Open] reads from files, orders nodes differently, so splits and node numbers do not carry over.
func Cora() (*Graph, error) { return readEmbedded("cora") }

func readEmbedded(name string) (*Graph, error) {
	file, err := embedded.ReadFile("embedded/" + name + ".bin")
	if err != nil {
		return nil, err
	}
	payload, err := unpack(file)
	if err != nil {
		return nil, fmt.Errorf("embedded %s: %w", name, err)
	}
	return payload.graph()
}

// packedHeader is the length in bytes of the header: the format's name and version, the payload's length (uint32), and
// the payload's SHA-256, which only a test checks.
const packedHeader = 9 + 4 + sha256.Size

func unpack(file []byte) (*packedGraph, error) {
	payload, err := io.ReadAll(flate.NewReader(bytes.NewReader(file[packedHeader:])))
	return &packedGraph{payload}, err
}

type packedGraph struct{ payload []byte }

// graph sets feature c of node v to count/length(v)·weight(c): term frequency times inverse document frequency. count
// is how often word c occurs in v, length(v) is v's number of words, and weight(c) falls with the word's frequency.
// Features are bit for bit the source's float32. For binary features, length and weight are 1.
func (p *packedGraph) graph() (*Graph, error) {
	g := &Graph{Name: p.words()[0], Source: "embedded", Classes: p.words()}
	nodes := p.number()
	g.NodeIDs = p.words()
	g.Labels = make([]int32, nodes)
	for v := range g.Labels {
		g.Labels[v] = int32(p.number()) - 1
	}
	g.Report = csr.Report{Listed: int64(p.number()), SelfLoops: int64(p.number()), Duplicates: int64(p.number())}
	var upper []csr.Edge
	var row []int32
	for v := range int32(nodes) {
		row = append(row[:0], make([]int32, p.number())...)
		p.ascending(row, v)
		for _, u := range row {
			upper = append(upper, csr.Edge{Node: v, Neighbour: u})
		}
	}
	edges, report, err := csr.FromEdges(nodes, upper, csr.Options{})
	g.Edges, g.Report.Edges = edges, report.Edges
	g.Features = p.features(nodes)
	return g, err
}

func (p *packedGraph) number() int {
	if first := p.payload[0]; first < 0x80 {
		p.payload = p.payload[1:]
		return int(first)
	}
	n, width := binary.Uvarint(p.payload)
	p.payload = p.payload[width:]
	return int(n)
}

func (p *packedGraph) bytes(n int) []byte {
	taken := p.payload[:n]
	p.payload = p.payload[n:]
	return taken
}

func (p *packedGraph) words() (words []string) {
	for range p.number() {
		words = append(words, string(p.bytes(p.number())))
	}
	return words
}

// ascending fills row with ascending numbers above last. The file has each number's difference from the previous
// number, minus 1.
func (p *packedGraph) ascending(row []int32, last int32) {
	for i := range row {
		last += int32(p.number()) + 1
		row[i] = last
	}
}

func (p *packedGraph) features(nodes int) Features {
	f := Features{Rows: nodes, Width: p.number(), Offsets: make([]int64, nodes+1)}
	weights := make([]float64, f.Width)
	for i := range weights {
		weights[i] = math.Float64frombits(binary.LittleEndian.Uint64(p.bytes(8)))
	}
	lengths := make([]float64, nodes)
	for v := range nodes {
		lengths[v] = float64(p.number())
		f.Offsets[v+1] = f.Offsets[v] + int64(p.number())
	}
	f.Columns, f.Values = make([]int32, f.Offsets[nodes]), make([]float32, f.Offsets[nodes])
	for v := range nodes {
		p.ascending(f.Columns[f.Offsets[v]:f.Offsets[v+1]], -1)
	}
	for v, length := range lengths {
		for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
			share := float64(p.number()) / length
			f.Values[i] = float32(float64(share * weights[f.Columns[i]]))
		}
	}
	return f
}
