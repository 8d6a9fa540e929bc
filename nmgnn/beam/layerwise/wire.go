package layerwise

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/nmgnn/beam/rows"
)

// What passes between workers. Each has a coder of its own: Beam's for structs goes by reflection, which costs more than all
// else here.
type (
	// Node is a node between two layers.
	Node struct {
		Label         string
		Known, Linked int  // of a newcomer: how many neighbours of each kind it has
		Cached        bool // sends what a cache has, and is not computed
		Row           rows.Row
	}
	// Record is a node with its id.
	Record struct {
		ID   string
		Node Node
	}
	// Message is what a node sends.
	Message struct{ Values, Source []float32 }
	// Target is what the scores of a node's neighbours depend on.
	Target struct{ Values []float32 }
	// Ask asks a neighbour for its term.
	Ask struct {
		From   string
		Target []float32
	}
	// Near lists some neighbours of a node.
	Near struct{ IDs []string }
	// Adjacent lists some neighbours of a node, with its id.
	Adjacent struct {
		ID   string
		Near []string
	}
	// Term is some of a sum over neighbours, and what the node itself keeps, if Own.
	Term struct {
		Own  bool
		Node Node // without its Row
		Root rows.Root
		Part rows.Part
	}
	// Pair is an edge, its lesser end first.
	Pair struct{ A, B string }
	// Tie tells a node of a neighbour.
	Tie struct {
		ID    string
		Known bool
	}
	// Kept is what a cache has of a node: its features, and each hidden layer's output.
	Kept struct {
		Degree int
		H      [][]float32
	}
	// Range is a part of a cache's nodes.
	Range struct{ Begin, End int }
)

// written returns what a function writes.
func written[T any](x T, write func(*writer, T)) []byte {
	w := writer{make([]byte, 0, 64)}
	write(&w, x)
	return w.b
}

// read returns what a function reads.
func read[T any](b []byte, from func(*reader) T) (T, error) {
	r := reader{b: b}
	x := from(&r)
	return x, r.err
}

type writer struct{ b []byte }

func (w *writer) int(x int)     { w.b = binary.AppendUvarint(w.b, uint64(x)) }
func (w *writer) text(s string) { w.int(len(s)); w.b = append(w.b, s...) }
func (w *writer) flag(is bool) {
	if is {
		w.int(1)
	} else {
		w.int(0)
	}
}

func (w *writer) texts(all []string) {
	w.int(len(all))
	for _, s := range all {
		w.text(s)
	}
}

// floats writes numbers, by columns where at most 3 in 8 are not zero.
func (w *writer) floats(all []float32) {
	stored := 0
	for _, x := range all {
		if x != 0 {
			stored++
		}
	}
	w.int(len(all))
	if len(all) == 0 {
		return
	}
	sparse := 8*stored <= 3*len(all)
	w.flag(sparse)
	if sparse {
		w.int(stored)
	}
	last := -1
	for i, x := range all {
		if sparse && x == 0 {
			continue
		}
		if sparse {
			w.int(i - last - 1)
			last = i
		}
		w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(x))
	}
}

var errWire = errors.New("a message between workers is damaged: run the command again")

// reader reads what a writer wrote. After an error it returns zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) int() int {
	x, n := binary.Uvarint(r.b)
	if n <= 0 || x > math.MaxInt32 {
		r.b, r.err = nil, errWire
		return 0
	}
	r.b = r.b[n:]
	return int(x)
}

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.b, r.err = nil, errWire
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) text() string { return string(r.take(r.int())) }
func (r *reader) flag() bool   { return r.int() != 0 }

func (r *reader) texts() []string {
	n := r.int()
	if n > len(r.b) { // each takes a byte or more
		r.b, r.err = nil, errWire
		return nil
	}
	all := make([]string, n)
	for i := range all {
		all[i] = r.text()
	}
	return all
}

// widest is how many numbers a row may have: as many as features.
const widest = 1 << 24

func (r *reader) floats() []float32 {
	n := r.int()
	if n == 0 {
		return nil
	}
	if r.flag() {
		stored, at := r.int(), -1
		if n > widest || stored > n || 5*stored > len(r.b) {
			r.b, r.err = nil, errWire
			return nil
		}
		all := make([]float32, n)
		for range stored {
			at += r.int() + 1
			value := r.take(4)
			if at >= n || value == nil {
				r.b, r.err = nil, errWire
				return nil
			}
			all[at] = math.Float32frombits(binary.LittleEndian.Uint32(value))
		}
		return all
	}
	from := r.take(4 * n)
	if from == nil {
		return nil
	}
	all := make([]float32, n)
	for i := range all {
		all[i] = math.Float32frombits(binary.LittleEndian.Uint32(from[4*i:]))
	}
	return all
}

func writeNode(w *writer, n Node) {
	w.text(n.Label)
	w.int(n.Known)
	w.int(n.Linked)
	w.flag(n.Cached)
	w.int(n.Row.Degree)
	w.floats(n.Row.H)
	w.floats(n.Row.Scores)
}

func readNode(r *reader) Node {
	return Node{Label: r.text(), Known: r.int(), Linked: r.int(), Cached: r.flag(), Row: rows.Row{Degree: r.int(), H: r.floats(), Scores: r.floats()}}
}

func writeTerm(w *writer, t Term) {
	w.flag(t.Own)
	if t.Own {
		writeNode(w, t.Node)
		w.int(t.Root.Degree)
		w.floats(t.Root.Term)
		w.floats(t.Root.H)
		w.floats(t.Root.Scores)
	}
	w.floats(t.Part.Values)
	w.floats(t.Part.Top)
	w.floats(t.Part.Weight)
}

func readTerm(r *reader) (t Term) {
	if t.Own = r.flag(); t.Own {
		t.Node = readNode(r)
		t.Root = rows.Root{Degree: r.int(), Term: r.floats(), H: r.floats(), Scores: r.floats()}
	}
	t.Part = rows.Part{Values: r.floats(), Top: r.floats(), Weight: r.floats()}
	return t
}

func writeKept(w *writer, k Kept) {
	w.int(k.Degree)
	w.int(len(k.H))
	for _, h := range k.H {
		w.floats(h)
	}
}

func readKept(r *reader) Kept {
	k := Kept{Degree: r.int()}
	for range min(r.int(), len(r.b)) {
		k.H = append(k.H, r.floats())
	}
	return k
}

func writeRecord(w *writer, x Record) {
	w.text(x.ID)
	writeNode(w, x.Node)
}

func readRecord(r *reader) Record { return Record{r.text(), readNode(r)} }

func writeMessage(w *writer, x Message) {
	w.floats(x.Values)
	w.floats(x.Source)
}

func readMessage(r *reader) Message { return Message{r.floats(), r.floats()} }

func writeTarget(w *writer, x Target) {
	w.floats(x.Values)
}

func readTarget(r *reader) Target { return Target{r.floats()} }

func writeAsk(w *writer, x Ask) {
	w.text(x.From)
	w.floats(x.Target)
}

func readAsk(r *reader) Ask { return Ask{r.text(), r.floats()} }

func writeNear(w *writer, x Near) {
	w.texts(x.IDs)
}

func readNear(r *reader) Near { return Near{r.texts()} }

func writeAdjacent(w *writer, x Adjacent) {
	w.text(x.ID)
	w.texts(x.Near)
}

func readAdjacent(r *reader) Adjacent { return Adjacent{r.text(), r.texts()} }

func writePair(w *writer, x Pair) {
	w.text(x.A)
	w.text(x.B)
}

func readPair(r *reader) Pair { return Pair{r.text(), r.text()} }

func writeTie(w *writer, x Tie) {
	w.text(x.ID)
	w.flag(x.Known)
}

func readTie(r *reader) Tie { return Tie{r.text(), r.flag()} }

func writeRange(w *writer, x Range) {
	w.int(x.Begin)
	w.int(x.End)
}

func readRange(r *reader) Range { return Range{r.int(), r.int()} }

// Beam finds coders by the names of their functions, which closures and generic functions share.

func encodeNode(x Node) []byte                  { return written(x, writeNode) }
func decodeNode(b []byte) (Node, error)         { return read(b, readNode) }
func encodeRecord(x Record) []byte              { return written(x, writeRecord) }
func decodeRecord(b []byte) (Record, error)     { return read(b, readRecord) }
func encodeMessage(x Message) []byte            { return written(x, writeMessage) }
func decodeMessage(b []byte) (Message, error)   { return read(b, readMessage) }
func encodeTarget(x Target) []byte              { return written(x, writeTarget) }
func decodeTarget(b []byte) (Target, error)     { return read(b, readTarget) }
func encodeAsk(x Ask) []byte                    { return written(x, writeAsk) }
func decodeAsk(b []byte) (Ask, error)           { return read(b, readAsk) }
func encodeNear(x Near) []byte                  { return written(x, writeNear) }
func decodeNear(b []byte) (Near, error)         { return read(b, readNear) }
func encodeAdjacent(x Adjacent) []byte          { return written(x, writeAdjacent) }
func decodeAdjacent(b []byte) (Adjacent, error) { return read(b, readAdjacent) }
func encodeTerm(x Term) []byte                  { return written(x, writeTerm) }
func decodeTerm(b []byte) (Term, error)         { return read(b, readTerm) }
func encodePair(x Pair) []byte                  { return written(x, writePair) }
func decodePair(b []byte) (Pair, error)         { return read(b, readPair) }
func encodeTie(x Tie) []byte                    { return written(x, writeTie) }
func decodeTie(b []byte) (Tie, error)           { return read(b, readTie) }
func encodeRange(x Range) []byte                { return written(x, writeRange) }
func decodeRange(b []byte) (Range, error)       { return read(b, readRange) }
func encodeKept(x Kept) []byte                  { return written(x, writeKept) }
func decodeKept(b []byte) (Kept, error)         { return read(b, readKept) }

// registerWire tells Beam how each type is encoded.
func registerWire() {
	beam.RegisterCoder(reflect.TypeFor[Node](), encodeNode, decodeNode)
	beam.RegisterCoder(reflect.TypeFor[Record](), encodeRecord, decodeRecord)
	beam.RegisterCoder(reflect.TypeFor[Message](), encodeMessage, decodeMessage)
	beam.RegisterCoder(reflect.TypeFor[Target](), encodeTarget, decodeTarget)
	beam.RegisterCoder(reflect.TypeFor[Ask](), encodeAsk, decodeAsk)
	beam.RegisterCoder(reflect.TypeFor[Near](), encodeNear, decodeNear)
	beam.RegisterCoder(reflect.TypeFor[Adjacent](), encodeAdjacent, decodeAdjacent)
	beam.RegisterCoder(reflect.TypeFor[Term](), encodeTerm, decodeTerm)
	beam.RegisterCoder(reflect.TypeFor[Pair](), encodePair, decodePair)
	beam.RegisterCoder(reflect.TypeFor[Tie](), encodeTie, decodeTie)
	beam.RegisterCoder(reflect.TypeFor[Range](), encodeRange, decodeRange)
	beam.RegisterCoder(reflect.TypeFor[Kept](), encodeKept, decodeKept)
}
