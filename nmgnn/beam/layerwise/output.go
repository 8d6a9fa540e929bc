package layerwise

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/internal/tidy"
	"nodemask/internal/tidy/tidyfile"
	"nodemask/nmgnn/beam/rows"
)

// extension is how the names of output files end.
func (o Output) extension() string {
	if o.CSV {
		return "csv"
	}
	return "parquet"
}

// check returns an error if there are files in the folder that would stand beside those that are written.
func (o Output) check(shards int) error {
	if err := os.MkdirAll(o.Folder, 0o755); err != nil {
		return err
	}
	there, err := filepath.Glob(filepath.Join(escape(o.Folder), "nodes-*-of-*"))
	if err != nil {
		return err
	}
	for _, path := range there {
		own := func(shard int) bool { return filepath.Base(path) == o.name(shard, shards) }
		if !slices.ContainsFunc(sequence(shards), own) {
			return fmt.Errorf("%s: a file of another run, with another number of shards or in another format: choose another folder, or delete it", path)
		}
	}
	return nil
}

func sequence(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func (o Output) name(shard, shards int) string {
	return fmt.Sprintf("nodes-%05d-of-%05d.%s", shard, shards, o.extension())
}

// resultFn puts what is shown of a node, and its logits, into a record of its shard.
type resultFn struct {
	shardFn
	Saved []byte
	model *rows.Model
}

// Setup decodes the model.
func (f *resultFn) Setup() (err error) {
	f.model, err = decodeModel(f.Saved)
	return err
}

// ProcessElement emits a node with its logits in Scores.
func (f *resultFn) ProcessElement(id string, last, shown func(*Node) bool, emit func(int, Record)) {
	var n, layer Node
	if !last(&n) {
		return
	}
	logits := f.model.Logits(n.Row)
	n.Row.Scores = logits
	if n.Row.H = logits; shown(&layer) {
		n.Row.H = layer.Row.H
	}
	emit(f.of(id), Record{id, n})
}

// tableFn writes shards of the output.
type tableFn struct {
	Output    Output
	Shards    int
	Classes   []string
	Newcomers bool // has counts of neighbours instead of known classes
}

// ProcessElement writes a shard.
func (f *tableFn) ProcessElement(shard int, records func(*Record) bool) error {
	var ids, labels, predicted []string
	var known []bool
	var probability []float64
	var near, linked []int64
	var h []tidy.Column
	var r Record
	for records(&r) {
		row := r.Node.Row
		if h == nil {
			for k := range row.H {
				h = append(h, tidy.Column{Name: fmt.Sprintf("h%d", k)})
			}
		}
		if len(row.H) != len(h) || len(row.Scores) != len(f.Classes) {
			return faultf("node %.80q: %d numbers and %d logits: expected %d and %d: the files in the work folder do not belong together: delete it", r.ID, len(row.H), len(row.Scores), len(h), len(f.Classes))
		}
		class, p := rows.Softmax(row.Scores)
		ids, labels, known = append(ids, r.ID), append(labels, r.Node.Label), append(known, r.Node.Label != "")
		predicted, probability = append(predicted, f.Classes[class]), append(probability, shortest(p))
		near, linked = append(near, int64(r.Node.Known)), append(linked, int64(r.Node.Linked))
		for k, x := range row.H {
			h[k].Numbers = append(h[k].Numbers, shortest(x))
		}
	}
	t := tidy.Table{{Name: "id", Texts: ids}, {Name: "class", Texts: labels, Known: known}, {Name: "predicted", Texts: predicted}, {Name: "probability", Numbers: probability}}
	if f.Newcomers {
		t = tidy.Table{t[0], t[2], t[3], {Name: "neighbours", Whole: near}, {Name: "arrivals", Whole: linked}}
	}
	path := filepath.Join(f.Output.Folder, f.Output.name(shard, f.Shards))
	return fault(replace(path, func(w io.Writer) error { return tidyfile.Write(w, append(t, h...), path) }))
}

// shortest is the number with the fewest digits that is x in 32 bits.
func shortest(x float32) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		return float64(x)
	}
	return y
}

// writeOutput writes the nodes behind the last layer, and of another layer if shown is its folder.
func writeOutput(ctx context.Context, o Options, saved []byte, last, shown string, out Output) error {
	if err := out.check(o.Shards); err != nil {
		return err
	}
	p, s := beam.NewPipelineWithRoot()
	all, err := load(s, last, o.Shards)
	if err != nil {
		return err
	}
	other := all
	if shown != "" {
		if other, err = load(s.Scope("shown"), shown, o.Shards); err != nil {
			return err
		}
	} else {
		other = beam.ParDo(s, noneFn, all)
	}
	if err := results(s, saved, all, other, out, o, false); err != nil {
		return err
	}
	if _, err := o.Run(ctx, p); err != nil {
		return pipelineError(ctx, "output", err)
	}
	o.Progress("output", false)
	return nil
}

// noneFn keeps nothing.
func noneFn(string, Node, func(string, Node)) {}

// results writes nodes, with the numbers of those of the same id in shown if there are any.
func results(s beam.Scope, saved []byte, all, shown beam.PCollection, out Output, o Options, newcomers bool) error {
	m, err := decodeModel(saved)
	if err != nil {
		return err
	}
	s = s.Scope("output")
	records := beam.ParDo(s, &resultFn{shardFn: shardFn{o.Shards}, Saved: saved}, beam.CoGroupByKey(s, all, shown))
	beam.ParDo0(s, &tableFn{out, o.Shards, m.Classes, newcomers}, beam.GroupByKey(s, records))
	return nil
}
