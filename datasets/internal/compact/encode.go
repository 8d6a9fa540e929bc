package compact

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Encode writes the graph as a file. Equal graphs give equal bytes. It returns an error if the parts of the graph do
// not fit together, an edge is in one direction only, or a column has too many distinct values.
func Encode(g *Graph) ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	w := &writer{}
	n := len(g.Labels)
	w.number(uint64(n))
	w.number(uint64(g.Width))
	w.number(uint64(g.Listed))
	w.number(uint64(g.SelfLoops))
	w.number(uint64(g.Duplicates))
	w.names(g.Classes)
	w.names(g.NodeIDs)
	for _, label := range g.Labels {
		w.number(uint64(label + 1))
	}
	w.edges(g)
	w.columns(g)
	if err := w.values(g); err != nil {
		return nil, err
	}
	// What cannot be read back to the same graph must not be written: this finds one-way edges, self-loops and long names.
	if len(w.payload) > maxPayload {
		return nil, fmt.Errorf("compact: a payload of %d bytes: expected at most %d", len(w.payload), maxPayload)
	}
	body := binary.AppendUvarint(nil, uint64(len(w.payload)))
	packed, err := deflate(w.payload)
	if err != nil {
		return nil, err
	}
	body = append(body, packed...)
	sum := sha256.Sum256(body)
	file := slices.Concat([]byte(magic), []byte{version}, sum[:], body)
	back, err := Decode(file)
	if err != nil {
		return nil, fmt.Errorf("compact: the file does not read back: %w", err)
	}
	if !slices.Equal(back.Offsets, g.Offsets) || !slices.Equal(back.Targets, g.Targets) {
		return nil, fmt.Errorf("compact: the edges do not read back: expected each in both directions and no self-loops")
	}
	return file, nil
}

func deflate(payload []byte) ([]byte, error) {
	var out bytes.Buffer
	f, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(payload); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

type writer struct{ payload []byte }

func (w *writer) number(x uint64) { w.payload = binary.AppendUvarint(w.payload, x) }

func (w *writer) names(names []string) {
	w.number(uint64(len(names)))
	for _, name := range names {
		w.number(uint64(len(name)))
		w.payload = append(w.payload, name...)
	}
}

// edges writes the upper triangle: the number of edges (v, u) with v < u of each row, then the gaps between its targets.
func (w *writer) edges(g *Graph) {
	upper := func(v int) []int32 {
		row := g.Targets[g.Offsets[v]:g.Offsets[v+1]]
		first, _ := slices.BinarySearch(row, int32(v)+1)
		return row[first:]
	}
	for v := range g.Labels {
		w.number(uint64(len(upper(v))))
	}
	for v := range g.Labels {
		w.gaps(upper(v), int32(v))
	}
}

func (w *writer) columns(g *Graph) {
	for v := range g.Labels {
		w.number(uint64(g.FeatureOffsets[v+1] - g.FeatureOffsets[v]))
	}
	for v := range g.Labels {
		w.gaps(g.Columns[g.FeatureOffsets[v]:g.FeatureOffsets[v+1]], -1)
	}
}

func (w *writer) gaps(ascending []int32, last int32) {
	for _, x := range ascending {
		w.number(uint64(x - last - 1))
		last = x
	}
}

// values writes the dictionary of each column, then the entry that each nonzero takes.
func (w *writer) values(g *Graph) error {
	counts := make([]map[uint32]int, g.Width)
	for i, c := range g.Columns {
		if counts[c] == nil {
			counts[c] = map[uint32]int{}
		}
		counts[c][math.Float32bits(g.Values[i])]++
	}
	index := make([]map[uint32]int, g.Width)
	for c, count := range counts {
		if len(count) > maxDictionary {
			return fmt.Errorf("compact: column %d has %d distinct values: expected at most %d", c, len(count), maxDictionary)
		}
		entries := make([]uint32, 0, len(count))
		for bits := range count {
			entries = append(entries, bits)
		}
		// Most frequent first makes the high bytes compress to almost nothing; ascending bits within make small gaps.
		slices.SortFunc(entries, func(a, b uint32) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
		})
		w.number(uint64(len(entries)))
		index[c] = make(map[uint32]int, len(entries))
		last := uint32(0)
		for i, bits := range entries {
			gap := int32(bits - last)
			w.number(uint64(uint32(gap<<1) ^ uint32(gap>>31))) // zigzag: small either way
			last = bits
			index[c][bits] = i
		}
	}
	high := make([]byte, len(g.Columns))
	for i, c := range g.Columns {
		entry := index[c][math.Float32bits(g.Values[i])]
		w.payload = append(w.payload, byte(entry))
		high[i] = byte(entry >> 8)
	}
	w.payload = append(w.payload, high...)
	return nil
}
