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
	// Asking asks some neighbours of a node for their terms.
	Asking struct {
		Ask Ask
		Of  []string
	}
	// Askings are many.
	Askings struct{ All []Asking }
	// Terms are parts of the sums of many nodes.
	Terms struct {
		IDs   []string
		Parts []rows.Part
	}
	// Records are many nodes.
	Records struct{ All []Record }
	// Pairs are ends of many edges, of which the first are in one shard.
	Pairs struct{ A, B []string }
	// Near lists some neighbours of a node.
	Near struct{ IDs []string }
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
	writePart(w, t.Part)
}

func writePart(w *writer, p rows.Part) {
	w.floats(p.Values)
	w.floats(p.Top)
	w.floats(p.Weight)
}

func readPart(r *reader) rows.Part {
	return rows.Part{Values: r.floats(), Top: r.floats(), Weight: r.floats()}
}

func readTerm(r *reader) (t Term) {
	if t.Own = r.flag(); t.Own {
		t.Node = readNode(r)
		t.Root = rows.Root{Degree: r.int(), Term: r.floats(), H: r.floats(), Scores: r.floats()}
	}
	t.Part = readPart(r)
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

// list writes as many as there are, each by a function.
func list[T any](w *writer, all []T, write func(*writer, T)) {
	w.int(len(all))
	for _, x := range all {
		write(w, x)
	}
}

// listed reads what list wrote. Each takes a byte or more.
func listed[T any](r *reader, read func(*reader) T) []T {
	n := r.int()
	if n > len(r.b) {
		r.b, r.err = nil, errWire
		return nil
	}
	all := make([]T, 0, min(n, 1<<12))
	for range n {
		if r.err != nil {
			return nil
		}
		all = append(all, read(r))
	}
	return all
}

func writeAsking(w *writer, a Asking) {
	writeAsk(w, a.Ask)
	w.texts(a.Of)
}

func readAsking(r *reader) Asking { return Asking{readAsk(r), r.texts()} }

func writeAskings(w *writer, x Askings) { list(w, x.All, writeAsking) }
func readAskings(r *reader) Askings     { return Askings{listed(r, readAsking)} }

func writeTerms(w *writer, x Terms) {
	w.texts(x.IDs)
	list(w, x.Parts, writePart)
}

func readTerms(r *reader) Terms {
	t := Terms{r.texts(), listed(r, readPart)}
	if len(t.IDs) != len(t.Parts) {
		r.err = errWire
	}
	return t
}

func writeRecords(w *writer, x Records) { list(w, x.All, writeRecord) }
func readRecords(r *reader) Records     { return Records{listed(r, readRecord)} }

func writePairs(w *writer, x Pairs) {
	w.texts(x.A)
	w.texts(x.B)
}

func readPairs(r *reader) Pairs {
	p := Pairs{r.texts(), r.texts()}
	if len(p.A) != len(p.B) {
		r.err = errWire
	}
	return p
}

// Beam finds coders by the names of their functions, which closures and generic functions share.

func encodeNode(x Node) []byte                { return written(x, writeNode) }
func decodeNode(b []byte) (Node, error)       { return read(b, readNode) }
func encodeRecord(x Record) []byte            { return written(x, writeRecord) }
func decodeRecord(b []byte) (Record, error)   { return read(b, readRecord) }
func encodeMessage(x Message) []byte          { return written(x, writeMessage) }
func decodeMessage(b []byte) (Message, error) { return read(b, readMessage) }
func encodeTarget(x Target) []byte            { return written(x, writeTarget) }
func decodeTarget(b []byte) (Target, error)   { return read(b, readTarget) }
func encodeAsk(x Ask) []byte                  { return written(x, writeAsk) }
func decodeAsk(b []byte) (Ask, error)         { return read(b, readAsk) }
func encodeNear(x Near) []byte                { return written(x, writeNear) }
func decodeNear(b []byte) (Near, error)       { return read(b, readNear) }
func encodeTerm(x Term) []byte                { return written(x, writeTerm) }
func decodeTerm(b []byte) (Term, error)       { return read(b, readTerm) }
func encodePair(x Pair) []byte                { return written(x, writePair) }
func decodePair(b []byte) (Pair, error)       { return read(b, readPair) }
func encodeTie(x Tie) []byte                  { return written(x, writeTie) }
func decodeTie(b []byte) (Tie, error)         { return read(b, readTie) }
func encodeRange(x Range) []byte              { return written(x, writeRange) }
func decodeRange(b []byte) (Range, error)     { return read(b, readRange) }
func encodeKept(x Kept) []byte                { return written(x, writeKept) }
func decodeKept(b []byte) (Kept, error)       { return read(b, readKept) }
func encodeAskings(x Askings) []byte          { return written(x, writeAskings) }
func decodeAskings(b []byte) (Askings, error) { return read(b, readAskings) }
func encodeTerms(x Terms) []byte              { return written(x, writeTerms) }
func decodeTerms(b []byte) (Terms, error)     { return read(b, readTerms) }
func encodeRecords(x Records) []byte          { return written(x, writeRecords) }
func decodeRecords(b []byte) (Records, error) { return read(b, readRecords) }
func encodePairs(x Pairs) []byte              { return written(x, writePairs) }
func decodePairs(b []byte) (Pairs, error)     { return read(b, readPairs) }

// registerWire tells Beam how each type is encoded.
func registerWire() {
	beam.RegisterCoder(reflect.TypeFor[Node](), encodeNode, decodeNode)
	beam.RegisterCoder(reflect.TypeFor[Record](), encodeRecord, decodeRecord)
	beam.RegisterCoder(reflect.TypeFor[Message](), encodeMessage, decodeMessage)
	beam.RegisterCoder(reflect.TypeFor[Target](), encodeTarget, decodeTarget)
	beam.RegisterCoder(reflect.TypeFor[Ask](), encodeAsk, decodeAsk)
	beam.RegisterCoder(reflect.TypeFor[Near](), encodeNear, decodeNear)
	beam.RegisterCoder(reflect.TypeFor[Term](), encodeTerm, decodeTerm)
	beam.RegisterCoder(reflect.TypeFor[Pair](), encodePair, decodePair)
	beam.RegisterCoder(reflect.TypeFor[Tie](), encodeTie, decodeTie)
	beam.RegisterCoder(reflect.TypeFor[Range](), encodeRange, decodeRange)
	beam.RegisterCoder(reflect.TypeFor[Kept](), encodeKept, decodeKept)
	beam.RegisterCoder(reflect.TypeFor[Askings](), encodeAskings, decodeAskings)
	beam.RegisterCoder(reflect.TypeFor[Terms](), encodeTerms, decodeTerms)
	beam.RegisterCoder(reflect.TypeFor[Records](), encodeRecords, decodeRecords)
	beam.RegisterCoder(reflect.TypeFor[Pairs](), encodePairs, decodePairs)
}
