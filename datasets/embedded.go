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

// SOURCES.md says where they come from.
//
//go:embed embedded/*.bin
var embedded embed.FS

// Cora returns the citation graph Cora of LINQS: 2,708 papers, 5,278 edges, 1,433 binary word features, 7 classes. It
// is embedded, so it needs no file and no network.
//
// Nodes are in the order of LINQS's cora.content, their NodeIDs are its paper numbers, and classes are in the order of
// their names. Planetoid's Cora, which [ReadPlanetoid] reads, is the same graph with nodes and classes in another
// order: splits and node numbers do not carry over.
func Cora() (*Graph, error) { return readEmbedded("cora") }

// PubMed returns the citation graph PubMed of Planetoid: 19,717 papers on diabetes, 44,324 edges, 500 tf-idf features,
// 3 classes. It is embedded, so it needs no file and no network, and equals what [ReadPlanetoid] reads, value for
// value.
func PubMed() (*Graph, error) { return readEmbedded("pubmed") }

func readEmbedded(name string) (*Graph, error) {
	file, err := embedded.ReadFile("embedded/" + name + ".bin")
	if err != nil {
		return nil, err
	}
	g, err := unpack(file)
	if err != nil {
		return nil, fmt.Errorf("embedded %s: %w", name, err)
	}
	return g, nil
}

const (
	packedMagic  = "nodemask\x01" // the last byte is the version
	packedHeader = len(packedMagic) + 4 + sha256.Size
	// maxPacked bounds what a damaged header can make unpack allocate; PubMed needs 2.3 MiB.
	maxPacked = 32 << 20
)

// unpack reads an embedded file: packedMagic, the length of the payload (little-endian uint32), the payload's SHA-256,
// and the payload compressed by DEFLATE. It allocates a small multiple of the stated length, whatever the file holds.
func unpack(file []byte) (*Graph, error) {
	if len(file) < packedHeader || string(file[:len(packedMagic)]) != packedMagic {
		return nil, fmt.Errorf("not a packed graph: expected %q and a header of %d bytes", packedMagic, packedHeader)
	}
	size := int(binary.LittleEndian.Uint32(file[len(packedMagic):]))
	if size > maxPacked {
		return nil, fmt.Errorf("a payload of %d bytes: expected at most %d", size, maxPacked)
	}
	body := bytes.NewReader(file[packedHeader:])
	// Growing as the data comes means that a short file with a large stated size allocates little.
	payload, err := io.ReadAll(io.LimitReader(flate.NewReader(body), int64(size)+1))
	if err != nil {
		return nil, fmt.Errorf("byte %d: cannot decompress: %w", len(file)-body.Len(), err)
	}
	if len(payload) != size || body.Len() != 0 {
		return nil, fmt.Errorf("the payload has %d bytes and %d follow it: expected %d and 0",
			len(payload), body.Len(), size)
	}
	if sum, want := sha256.Sum256(payload), file[packedHeader-sha256.Size:]; !bytes.HasPrefix(want, sum[:]) {
		return nil, fmt.Errorf("the payload's SHA-256 is %x: expected %x, so the file is damaged", sum[:8], want[:8])
	}
	return unpackPayload(payload)
}

// packedGraph reads a payload: a run of unsigned varints and strings. Faults are raised by fail.
type packedGraph struct {
	payload []byte
	at      int
}

type packedFault struct{ error }

func (p *packedGraph) fail(format string, args ...any) {
	panic(packedFault{fmt.Errorf("payload byte %d: %w", p.at, fmt.Errorf(format, args...))})
}

// unpackPayload reads the parts of a graph in the order in which the payload has them.
//
// Features are stored as they arose: entry (v, c) is count/length(v)·weight(c), that is, a word's share of a document
// times the word's inverse document frequency. Counts and lengths are small integers, and the product gives back the
// float32 of the source bit for bit. Binary features have all three equal to 1.
func unpackPayload(payload []byte) (g *Graph, err error) {
	p := &packedGraph{payload: payload}
	defer func() {
		if fault := recover(); fault != nil {
			known, is := fault.(packedFault)
			if !is {
				panic(fault)
			}
			g, err = nil, known.error
		}
	}()
	names := p.words()
	if len(names) != 1 {
		p.fail("%d names: expected 1", len(names))
	}
	g = &Graph{Name: names[0], Source: "embedded", Classes: p.words()}
	nodes := p.count(1)
	g.NodeIDs = p.words()
	if g.NodeIDs != nil && len(g.NodeIDs) != nodes {
		p.fail("%d node names for %d nodes", len(g.NodeIDs), nodes)
	}
	g.Labels = make([]int32, nodes)
	for v := range g.Labels {
		g.Labels[v] = int32(p.number(uint64(len(g.Classes)))) - 1
	}
	p.edges(g)
	p.features(g)
	if p.at != len(payload) {
		p.fail("%d bytes follow the end", len(payload)-p.at)
	}
	return g, nil
}

// number reads a varint of at most so much.
func (p *packedGraph) number(most uint64) int {
	if rest := p.payload[p.at:]; len(rest) > 0 && rest[0] < 0x80 && uint64(rest[0]) <= most { // nearly all are one byte
		p.at++
		return int(rest[0])
	}
	n, width := binary.Uvarint(p.payload[p.at:])
	if width <= 0 || n > most {
		p.fail("the number %d of %d bytes: expected at most %d", n, width, most)
	}
	p.at += width
	return int(n)
}

// count reads how many entries of at least size bytes follow: more than are there is a fault, before anything is
// allocated for them.
func (p *packedGraph) count(size int) int { return p.number(uint64((len(p.payload) - p.at) / size)) }

// bytes returns the next n bytes.
func (p *packedGraph) bytes(n int) []byte {
	if left := len(p.payload) - p.at; n > left {
		p.fail("%d bytes are left: expected %d", left, n)
	}
	p.at += n
	return p.payload[p.at-n : p.at]
}

func (p *packedGraph) words() (words []string) {
	for range p.count(1) {
		words = append(words, string(p.bytes(p.count(1))))
	}
	return words
}

// ascending fills a row with numbers above last and below limit, which are stored by their distances less 1.
func (p *packedGraph) ascending(row []int32, last int32, limit int) {
	for i := range row {
		last += int32(p.number(uint64(limit))) + 1
		if int(last) >= limit {
			p.fail("the number %d in a row: expected at most %d", last, limit-1)
		}
		row[i] = last
	}
}

// edges reads, for each node, its neighbours with a larger number.
func (p *packedGraph) edges(g *Graph) {
	var listed [3]int64 // pairs in the source, self-loops and duplicates
	for i := range listed {
		listed[i] = int64(p.number(math.MaxInt32))
	}
	var upper []csr.Edge
	var row []int32
	nodes := len(g.Labels)
	for v := range int32(nodes) {
		row = append(row[:0], make([]int32, p.count(1))...)
		p.ascending(row, v, nodes)
		for _, u := range row {
			upper = append(upper, csr.Edge{Node: v, Neighbour: u})
		}
	}
	edges, report, err := csr.FromEdges(nodes, upper, csr.Options{})
	if err != nil {
		p.fail("%w", err)
	}
	if want := listed[0] - listed[1] - listed[2]; report.Edges != want {
		p.fail("%d edges: expected %d of %d pairs, %d self-loops and %d duplicates",
			report.Edges, want, listed[0], listed[1], listed[2])
	}
	g.Edges = edges
	g.Report = csr.Report{Listed: listed[0], SelfLoops: listed[1], Duplicates: listed[2], Edges: report.Edges}
}

func (p *packedGraph) features(g *Graph) {
	nodes := len(g.Labels)
	f := Features{Rows: nodes, Width: p.count(8), Offsets: make([]int64, nodes+1)}
	weights := make([]float64, f.Width)
	for i := range weights {
		w := math.Float64frombits(binary.LittleEndian.Uint64(p.bytes(8)))
		// Counts are below 2³¹: such a weight can neither overflow float32 nor vanish.
		if !(w > 1e-20 && w < 1e20) {
			p.fail("weight %d is %v: expected a number from 1e-20 to 1e20", i, w)
		}
		weights[i] = w
	}
	lengths := make([]float64, nodes)
	for v := range nodes {
		lengths[v] = p.positive("a row's length")
		f.Offsets[v+1] = f.Offsets[v] + int64(p.number(uint64(f.Width)))
	}
	entries := f.Offsets[nodes]
	if most := (len(p.payload) - p.at) / 2; entries > int64(most) {
		p.fail("%d entries: expected at most %d, two bytes for each", entries, most)
	}
	f.Columns, f.Values = make([]int32, entries), make([]float32, entries)
	for v := range nodes {
		p.ascending(f.Columns[f.Offsets[v]:f.Offsets[v+1]], -1, f.Width)
	}
	for v, length := range lengths {
		for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
			share := p.positive("a count") / length
			f.Values[i] = float32(float64(share * weights[f.Columns[i]])) // rounded once
		}
	}
	g.Features = f
}

// positive reads a number that may not be 0.
func (p *packedGraph) positive(what string) float64 {
	n := p.number(math.MaxInt32)
	if n == 0 {
		p.fail("%s is 0: expected at least 1", what)
	}
	return float64(n)
}
