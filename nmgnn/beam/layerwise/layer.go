package layerwise

import (
	"hash/fnv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/nmgnn/beam/rows"
)

// chunk is how many neighbours a record lists: many, to be few records, and not so many that a record of a node with very many
// neighbours fills a worker.
const chunk = 256

// one is a layer of a model, as functions on workers hold it.
type one struct {
	Saved []byte // the model, by encodeModel
	Layer int
	model *rows.Model
}

// Setup decodes the model.
func (o *one) Setup() (err error) {
	o.model, err = decodeModel(o.Saved)
	return err
}

// sendFn makes of each node what the layer takes of it.
type sendFn struct{ one }

// ProcessElement emits what a node sends, what its neighbours' scores depend on, if they do, and its own part.
func (f *sendFn) ProcessElement(id string, n Node, message func(string, Message), target func(string, Target), own func(string, Term)) error {
	s, err := f.model.Send(f.Layer, n.Row)
	if err != nil {
		return faultf("node %.80q: %w", id, err)
	}
	message(id, Message{s.Message, s.Source})
	if n.Cached {
		return nil
	}
	if f.model.Attends(f.Layer) {
		target(id, Target{s.Target})
	}
	part := f.model.Own(f.Layer, s)
	n.Row = rows.Row{}
	own(id, Term{Own: true, Node: n, Root: s.Root, Part: part})
	return nil
}

// termFn sends a node's message to each neighbour that takes from it.
type termFn struct{ one }

// ProcessElement joins a node's message with the neighbours that it goes to.
func (f *termFn) ProcessElement(id string, messages func(*Message) bool, nears func(*Near) bool, emit func(string, Term)) {
	var m Message
	if !messages(&m) {
		return
	}
	t := Term{Part: f.model.Term(f.Layer, rows.Sent{Message: m.Values, Source: m.Source}, nil)}
	var near Near
	for nears(&near) {
		for _, v := range near.IDs {
			emit(v, t)
		}
	}
}

// askFn asks each neighbour of a node for its term.
type askFn struct{}

// ProcessElement joins what a node's scores depend on with its neighbours.
func (*askFn) ProcessElement(id string, targets func(*Target) bool, nears func(*Near) bool, emit func(string, Ask)) {
	var t Target
	if !targets(&t) {
		return
	}
	var near Near
	for nears(&near) {
		for _, u := range near.IDs {
			emit(u, Ask{From: id, Target: t.Values})
		}
	}
}

// scoreFn answers those who ask.
type scoreFn struct{ one }

// ProcessElement joins a node's message with what asks for it.
func (f *scoreFn) ProcessElement(id string, messages func(*Message) bool, asks func(*Ask) bool, emit func(string, Term)) {
	var m Message
	if !messages(&m) {
		return
	}
	sent := rows.Sent{Message: m.Values, Source: m.Source}
	var a Ask
	for asks(&a) {
		emit(a.From, Term{Part: f.model.Term(f.Layer, sent, a.Target)})
	}
}

func hash(id string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // cannot fail
	return h.Sum32()
}

// sumFn adds up terms.
type sumFn struct{}

// MergeAccumulators adds b to a.
func (*sumFn) MergeAccumulators(a, b Term) Term {
	if b.Own {
		a.Own, a.Node, a.Root = true, b.Node, b.Root
	}
	a.Part = a.Part.Add(b.Part)
	return a
}

// CreateAccumulator returns the sum of nothing.
func (*sumFn) CreateAccumulator() Term { return Term{} }

// AddInput adds t to a.
func (f *sumFn) AddInput(a, t Term) Term { return f.MergeAccumulators(a, t) }

// ExtractOutput returns the sum.
func (*sumFn) ExtractOutput(a Term) Term { return a }

// finishFn makes a node's next row of its sum.
type finishFn struct{ one }

// ProcessElement computes a node.
func (f *finishFn) ProcessElement(id string, t Term, emit func(string, Node)) error {
	if !t.Own {
		return faultf("node %.80q takes terms, but is not there: the files in the work folder do not belong together: delete it", id)
	}
	t.Node.Row = f.model.Finish(f.Layer, t.Root, t.Part)
	emit(id, t.Node)
	return nil
}

// graph is who takes from whom.
type graph struct {
	from beam.PCollection // KV<id, Near>: by the node that sends, those that take
	to   beam.PCollection // KV<id, Near>: by the node that takes, those that send
}

// layer computes the nodes behind a layer, KV<id, Node>, of those before it.
func layer(s beam.Scope, m []byte, number int, attends bool, nodes beam.PCollection, g graph) beam.PCollection {
	o := one{Saved: m, Layer: number}
	messages, targets, own := beam.ParDo3(s.Scope("send"), &sendFn{o}, nodes)
	var terms beam.PCollection
	if attends {
		asks := beam.ParDo(s.Scope("ask"), &askFn{}, beam.CoGroupByKey(s, targets, g.to))
		terms = beam.ParDo(s.Scope("score"), &scoreFn{o}, beam.CoGroupByKey(s, messages, asks))
	} else {
		terms = beam.ParDo(s.Scope("term"), &termFn{o}, beam.CoGroupByKey(s, messages, g.from))
	}
	return beam.ParDo(s.Scope("finish"), &finishFn{o}, beam.CombinePerKey(s.Scope("sum"), &sumFn{}, beam.Flatten(s, own, terms)))
}
