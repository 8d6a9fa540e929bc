package layerwise

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/nmgnn/beam/rows"
)

// readNodesFn reads files of nodes.
type readNodesFn struct {
	Saved []byte
	model *rows.Model
}

// Setup decodes the model.
func (f *readNodesFn) Setup() (err error) {
	f.model, err = decodeModel(f.Saved)
	return err
}

// ProcessElement emits a file's nodes, as the first layer reads them.
func (f *readNodesFn) ProcessElement(ctx context.Context, path string, emit func(string, Node)) error {
	return fault(scanNodes(ctx, path, func(id, label []byte, features []float32) error {
		row, err := f.model.First(append([]float32(nil), features...))
		if err != nil {
			return err
		}
		emit(string(id), Node{Label: string(label), Row: row})
		return nil
	}))
}

// readEdgesFn reads files of edges.
type readEdgesFn struct{}

// ProcessElement emits a file's edges.
func (*readEdgesFn) ProcessElement(ctx context.Context, path string, emit func(Pair, bool)) error {
	return fault(scanEdges(ctx, path, func(source, target []byte) error {
		p := Pair{string(source), string(target)}
		if p.A > p.B {
			p.A, p.B = p.B, p.A
		}
		emit(p, true)
		return nil
	}))
}

// bothWaysFn makes neighbours of the ends of different edges. Of a loop it makes "", which is no node's id, so that its node is
// looked for.
func bothWaysFn(p Pair, _ func(*bool) bool, emit func(string, string)) {
	if p.A == p.B {
		emit(p.A, "")
		return
	}
	emit(p.A, p.B)
	emit(p.B, p.A)
}

// different reads edges, and returns the neighbours of each node once, as KV<id, id>, and "" for a node with a loop.
func different(s beam.Scope, files []string) beam.PCollection {
	read := beam.ParDo(s.Scope("edges"), &readEdgesFn{}, filesOf(s, files))
	return beam.ParDo(s.Scope("both ways"), bothWaysFn, beam.GroupByKey(s, read))
}

// filesOf is a collection of names, which workers share.
func filesOf(s beam.Scope, files []string) beam.PCollection {
	return beam.Reshuffle(s, beam.CreateList(s, files))
}

// shardFn gives a record the shard that it belongs to.
type shardFn struct{ Shards int }

func (f shardFn) of(id string) int { return int(hash(id) % uint32(f.Shards)) }
