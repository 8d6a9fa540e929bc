package compact

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Decode reads a file that [Encode] wrote. Whatever the bytes, it returns a sound graph or an error, and takes no more
// memory than a small multiple of what the file inflates to, 64 MiB at most.
func Decode(file []byte) (*Graph, error) {
	const head = len(magic) + 1
	if len(file) < head+sha256.Size || string(file[:len(magic)]) != magic {
		return nil, fmt.Errorf("byte 0: %d bytes that begin with %q: expected %q, a version and a checksum", len(file), file[:min(len(file), len(magic))], magic)
	}
	if file[len(magic)] != version {
		return nil, fmt.Errorf("byte %d: format version %d: expected %d", len(magic), file[len(magic)], version)
	}
	body := file[head+sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], file[head:head+sha256.Size]) {
		return nil, fmt.Errorf("byte %d: the checksum does not match: the file is damaged", head)
	}
	size, n := binary.Uvarint(body)
	if n <= 0 || size > maxPayload {
		return nil, fmt.Errorf("byte %d: a payload of %d bytes: expected at most %d", head+sha256.Size, size, maxPayload)
	}
	payload, err := inflate(body[n:], int64(size))
	if err != nil {
		return nil, fmt.Errorf("byte %d: %w", head+sha256.Size+n, err)
	}
	r := &reader{payload: payload}
	g := r.graph()
	if r.err == nil && r.at != len(payload) {
		r.fail("%d bytes are left over", len(payload)-r.at)
	}
	if r.err != nil {
		return nil, r.err
	}
	return g, nil
}

func inflate(packed []byte, size int64) ([]byte, error) {
	f := flate.NewReader(bytes.NewReader(packed))
	defer f.Close() // nothing is held: it reads from memory
	var out bytes.Buffer
	// The buffer grows as bytes arrive: a file that only claims to be large costs nothing.
	got, err := io.Copy(&out, io.LimitReader(f, size+1))
	if err != nil {
		return nil, fmt.Errorf("the payload does not inflate: %w", err)
	}
	if got != size {
		return nil, fmt.Errorf("the payload inflates to %d bytes or more: expected %d", got, size)
	}
	return out.Bytes(), nil
}

// reader reads numbers one after the other. After the first failure it returns zeros, and err says what it was.
type reader struct {
	payload []byte
	at      int
	err     error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("payload byte %d: %s", r.at, fmt.Sprintf(format, args...))
	}
}

func (r *reader) number(below uint64, what string) int {
	if r.err != nil {
		return 0
	}
	if r.at < len(r.payload) && r.payload[r.at] < 0x80 && uint64(r.payload[r.at]) < below { // by far the most
		r.at++
		return int(r.payload[r.at-1])
	}
	x, n := binary.Uvarint(r.payload[r.at:])
	if n <= 0 {
		r.fail("%s: the payload ends within a number", what)
		return 0
	}
	if x >= below {
		r.fail("%s is %d: expected less than %d", what, x, below)
		return 0
	}
	r.at += n
	return int(x)
}

// count reads how many items follow. Each takes a byte at least, so that more than there are bytes left is an error
// before anything is allocated for them.
func (r *reader) count(limit int, what string) int {
	return r.number(uint64(min(limit, len(r.payload)-r.at))+1, what)
}

func (r *reader) names(limit int, what string) []string {
	names := make([]string, r.count(limit, what))
	for i := range names {
		n := r.count(maxName, "the length of a name")
		if r.err != nil || n > len(r.payload)-r.at {
			r.fail("a name of %d bytes goes beyond the end", n)
			return nil
		}
		names[i] = string(r.payload[r.at : r.at+n])
		r.at += n
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

func (r *reader) graph() *Graph {
	nodes := r.count(maxNodes, "the number of nodes")
	g := &Graph{Width: r.count(maxWidth, "the number of columns")}
	g.Listed = int64(r.number(math.MaxInt64, "the number of pairs"))
	g.SelfLoops = int64(r.number(math.MaxInt64, "the number of self-loops"))
	g.Duplicates = int64(r.number(math.MaxInt64, "the number of duplicates"))
	g.Classes = r.names(nodes, "the number of classes")
	g.NodeIDs = r.names(nodes, "the number of names")
	if len(g.NodeIDs) != 0 && len(g.NodeIDs) != nodes {
		r.fail("%d names for %d nodes", len(g.NodeIDs), nodes)
	}
	if r.err != nil {
		return nil
	}
	g.Labels = make([]int32, nodes)
	for v := range g.Labels {
		g.Labels[v] = int32(r.number(uint64(len(g.Classes))+1, "a label")) - 1
	}
	r.edges(g)
	r.columns(g)
	r.values(g)
	return g
}

func (r *reader) edges(g *Graph) {
	offsets, upper := r.rows(len(g.Labels), len(g.Labels))
	g.Offsets = make([]int64, len(g.Labels)+1)
	for v := range g.Labels {
		last := v
		for i := offsets[v]; i < offsets[v+1]; i++ {
			last += 1 + r.number(uint64(max(len(g.Labels)-last-1, 0)), "the gap to a neighbour")
			if r.err != nil {
				return
			}
			upper[i] = int32(last)
			g.Offsets[v+1]++
			g.Offsets[last+1]++
		}
	}
	if r.err != nil {
		return
	}
	for v := range g.Labels {
		g.Offsets[v+1] += g.Offsets[v]
	}
	g.Targets = make([]int32, 2*len(upper))
	next := make([]int64, len(g.Labels))
	copy(next, g.Offsets)
	// Row u gets its lower neighbours v < u while v ascends, then its upper ones: in order without sorting.
	for v := range g.Labels {
		for _, u := range upper[offsets[v]:offsets[v+1]] {
			g.Targets[next[v]] = u
			next[v]++
			g.Targets[next[u]] = int32(v)
			next[u]++
		}
	}
}

func (r *reader) columns(g *Graph) {
	g.FeatureOffsets, g.Columns = r.rows(len(g.Labels), g.Width)
	if r.err != nil {
		return
	}
	for v := range g.Labels {
		last := -1
		for i := g.FeatureOffsets[v]; i < g.FeatureOffsets[v+1]; i++ {
			last += 1 + r.number(uint64(g.Width-last-1), "the gap to a column")
			if r.err != nil {
				return
			}
			g.Columns[i] = int32(last)
		}
	}
}

// rows reads the lengths of rows and makes room for them.
func (r *reader) rows(nodes, longest int) (offsets []int64, items []int32) {
	offsets = make([]int64, nodes+1)
	for v := range nodes {
		offsets[v+1] = offsets[v] + int64(r.number(uint64(longest)+1, "the length of a row"))
	}
	if total := offsets[nodes]; total > int64(len(r.payload)-r.at) {
		r.fail("rows hold %d items: there are %d bytes left", total, len(r.payload)-r.at)
	}
	if r.err != nil {
		return make([]int64, nodes+1), nil
	}
	return offsets, make([]int32, offsets[nodes])
}

func (r *reader) values(g *Graph) {
	if r.err != nil {
		return
	}
	dictionaries := make([][]float32, g.Width)
	for c := range dictionaries {
		dictionary := make([]float32, r.count(maxDictionary, "the size of a dictionary"))
		last := uint32(0)
		for i := range dictionary {
			zigzag := uint32(r.number(1<<32, "an entry of a dictionary"))
			last += zigzag>>1 ^ -(zigzag & 1)
			dictionary[i] = math.Float32frombits(last)
		}
		dictionaries[c] = dictionary
	}
	n := len(g.Columns)
	if left := len(r.payload) - r.at; r.err == nil && left < 2*n {
		r.fail("%d bytes are left: expected two for each of %d values", left, n)
	}
	if r.err != nil {
		return
	}
	low, high := r.payload[r.at:r.at+n], r.payload[r.at+n:r.at+2*n]
	g.Values = make([]float32, n)
	for i, c := range g.Columns {
		entry := int(low[i]) | int(high[i])<<8
		if entry >= len(dictionaries[c]) {
			r.fail("value %d is entry %d of column %d: it has %d", i, entry, c, len(dictionaries[c]))
			return
		}
		g.Values[i] = dictionaries[c][entry]
	}
	r.at += 2 * n
}
