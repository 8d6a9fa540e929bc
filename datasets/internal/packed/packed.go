// Package packed reads and writes the compact file format of the graphs embedded in package datasets.
//
// A file is the word "nodemask", a version byte, the length of the payload (little-endian uint32), the payload's
// SHA-256, and the payload compressed by DEFLATE. The payload is a run of unsigned varints and strings in the order
// in which decode reads them.
//
// Features are kept as they arose: entry (v, c) is count/length(v)·weight(c), that is, a word's share of a document times
// the word's inverse document frequency. Counts and lengths are small integers, and the product gives back the float32
// of the source bit for bit; the encoder's caller makes sure of that. Binary features have all three equal to 1.
package packed

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"nodemask/csr"
)

const (
	magic   = "nodemask"
	version = 1
	header  = len(magic) + 1 + 4 + sha256.Size
	// maxPayload bounds what a damaged header can make Decode allocate; PubMed needs 2.3 MiB.
	maxPayload = 32 << 20
)

// Graph holds what a file does: a labelled graph, and features as counts.
type Graph struct {
	Name    string
	Classes []string
	NodeIDs []string   // [nodes], or nil
	Labels  []int32    // [nodes], -1 for none
	Edges   *csr.Graph // undirected
	Report  csr.Report // of the source's edge list

	Width   int       // columns of features
	Offsets []int64   // [nodes+1]: the entries of row v are Offsets[v] to Offsets[v+1]
	Columns []int32   // ascending within a row
	Counts  []uint32  // beside Columns, at least 1
	Lengths []uint32  // [nodes], at least 1
	Weights []float64 // [Width], positive
}

// Values returns the values of the features, beside Columns.
func (g *Graph) Values() []float32 {
	values := make([]float32, len(g.Columns))
	for v, length := range g.Lengths {
		for i := g.Offsets[v]; i < g.Offsets[v+1]; i++ {
			values[i] = Value(g.Counts[i], length, g.Weights[g.Columns[i]])
		}
	}
	return values
}

// Value returns count/length·weight, rounded to float32 once.
func Value(count, length uint32, weight float64) float32 {
	share := float64(count) / float64(length)
	return float32(float64(share * weight))
}

// Encode writes g. The same g gives the same bytes with one version of Go; another version's DEFLATE may differ.
func Encode(g *Graph) ([]byte, error) {
	payload := encode(g)
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("packed: %d bytes: expected at most %d", len(payload), maxPayload)
	}
	if _, err := decode(payload); err != nil {
		return nil, fmt.Errorf("packed: what was encoded cannot be read: %w", err)
	}
	sum := sha256.Sum256(payload)
	out := bytes.NewBuffer(append([]byte(magic), version))
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(payload))))
	out.Write(sum[:])
	w, err := flate.NewWriter(out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(payload); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func encode(g *Graph) []byte {
	var b []byte
	number := func(n uint64) { b = binary.AppendUvarint(b, n) }
	words := func(list []string) {
		number(uint64(len(list)))
		for _, s := range list {
			number(uint64(len(s)))
			b = append(b, s...)
		}
	}
	words([]string{g.Name})
	words(g.Classes)
	number(uint64(len(g.Labels)))
	words(g.NodeIDs)
	for _, c := range g.Labels {
		number(uint64(c + 1))
	}
	for _, n := range []int64{g.Report.Listed, g.Report.SelfLoops, g.Report.Duplicates} {
		number(uint64(n))
	}
	for v := range int32(g.Edges.NumNodes()) {
		row := g.Edges.Neighbours(v)
		for len(row) > 0 && row[0] < v {
			row = row[1:]
		}
		number(uint64(len(row)))
		b = gaps(b, row, v)
	}
	number(uint64(g.Width))
	for _, w := range g.Weights {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(w))
	}
	for v, length := range g.Lengths {
		number(uint64(length))
		number(uint64(g.Offsets[v+1] - g.Offsets[v]))
	}
	for v := range g.Labels {
		b = gaps(b, g.Columns[g.Offsets[v]:g.Offsets[v+1]], -1)
	}
	for _, n := range g.Counts {
		number(uint64(n))
	}
	return b
}

// gaps writes how far each entry of an ascending row is from the one after its predecessor.
func gaps(b []byte, row []int32, last int32) []byte {
	for _, c := range row {
		b = binary.AppendUvarint(b, uint64(c-last-1))
		last = c
	}
	return b
}

// Decode reads a file. It allocates a small multiple of the file's stated payload, at most 32 MiB, whatever
// the file holds.
func Decode(data []byte) (*Graph, error) {
	if len(data) < header || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("packed: not a packed graph: expected %q and a header of %d bytes", magic, header)
	}
	if v := data[len(magic)]; v != version {
		return nil, fmt.Errorf("packed: byte %d: format version %d: expected %d", len(magic), v, version)
	}
	size := binary.LittleEndian.Uint32(data[len(magic)+1:])
	if size > maxPayload {
		return nil, fmt.Errorf("packed: byte %d: a payload of %d bytes: expected at most %d", len(magic)+1, size, maxPayload)
	}
	body := bytes.NewReader(data[header:])
	inflate := flate.NewReader(body)
	// Growing as the data comes means that a short file with a large stated size allocates little.
	payload, err := io.ReadAll(io.LimitReader(inflate, int64(size)+1))
	if err != nil {
		return nil, fmt.Errorf("packed: byte %d: cannot decompress: %w", len(data)-body.Len(), err)
	}
	if len(payload) != int(size) || body.Len() != 0 {
		return nil, fmt.Errorf("packed: the payload has %d bytes and %d follow it: expected %d and 0", len(payload), body.Len(), size)
	}
	if sum := sha256.Sum256(payload); !bytes.Equal(sum[:], data[header-sha256.Size:header]) {
		return nil, fmt.Errorf("packed: the payload's SHA-256 is %x: expected %x, so the file is damaged", sum[:8], data[header-sha256.Size:header-sha256.Size+8])
	}
	return decode(payload)
}
