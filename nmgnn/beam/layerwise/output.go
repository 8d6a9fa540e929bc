package layerwise

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"nodemask/internal/tidy"
	"nodemask/internal/tidy/tidyfile"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/beam/rows"
	"nodemask/nmgnn/cached"
)

// extension is how the names of output files end.
func (o Output) extension() string {
	if o.CSV {
		return "csv"
	}
	return "parquet"
}

// replaces returns an error if the output would replace one of the files that are read.
func (o Output) replaces(shards int, inputs ...string) error {
	for shard := range shards {
		path := filepath.Join(o.Folder, o.name(shard, shards))
		if input := wholefile.Replaces(path, inputs...); input != "" {
			return fmt.Errorf("%s: this is %s, which is read: expected another folder for the output", path, input)
		}
	}
	return nil
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

// resultFn puts a node's logits into a record of its shard.
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

// ProcessElement emits a node.
func (f *resultFn) ProcessElement(id string, n Node, emit func(int, Record)) {
	emit(f.of(id), Record{id, shownAs(f.model, n)})
}

// shownAs puts a node's logits where the table has both what is shown and what it is classified by.
func shownAs(m *rows.Model, n Node) Node {
	n.Row.Scores = m.Logits(n.Row)
	n.Row.H = n.Row.Scores
	return n
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

// outputFn writes shards of the output of a graph.
type outputFn struct {
	shardFn
	one
	Table       tableFn
	Last, Shown string // folders of the last layer's nodes, and of those that are shown; "": the logits are
}

// ProcessElement writes a shard.
func (f *outputFn) ProcessElement(ctx context.Context, shard int) error {
	name := shardName("rows", shard, f.Shards)
	shown := map[string][]float32{}
	if f.Shown != "" {
		if err := readShard(ctx, filepath.Join(f.Shown, name), func(row *nodeRow) { shown[strings.Clone(row.ID)] = row.H }); err != nil {
			return fault(err)
		}
	}
	var all []Record
	err := readShard(ctx, filepath.Join(f.Last, name), func(row *nodeRow) {
		r := Record{strings.Clone(row.ID), shownAs(f.model, row.node())}
		r.Node.Label = strings.Clone(row.Label)
		if f.Shown != "" {
			r.Node.Row.H = shown[r.ID]
		}
		all = append(all, r)
	})
	if err != nil {
		return fault(err)
	}
	i := 0
	return f.Table.ProcessElement(shard, func(r *Record) bool {
		if i == len(all) {
			return false
		}
		*r = all[i]
		i++
		return true
	})
}

// writeOutput writes the nodes behind the last layer, with what another layer has of them if shown is its folder.
func writeOutput(ctx context.Context, o Options, m *cached.Model, saved []byte, last, shown string, out Output, shards []int) error {
	if err := out.check(o.Shards); err != nil {
		return err
	}
	p, s := beam.NewPipelineWithRoot()
	f := &outputFn{shardFn{o.Shards}, one{Saved: saved}, tableFn{out, o.Shards, m.Classes, false}, last, shown}
	beam.ParDo0(s.Scope("output"), f, beam.Reshuffle(s, beam.CreateList(s, shards)))
	if _, err := o.Run(ctx, p); err != nil {
		return pipelineError(ctx, "output", err)
	}
	o.Progress("output", false)
	return nil
}

// writeNewcomers writes nodes that arrived.
func writeNewcomers(s beam.Scope, o Options, m *cached.Model, saved []byte, all beam.PCollection, out Output) {
	s = s.Scope("output")
	records := beam.ParDo(s, &resultFn{shardFn: shardFn{o.Shards}, Saved: saved}, all)
	beam.ParDo0(s, &tableFn{out, o.Shards, m.Classes, true}, beam.GroupByKey(s, records))
}
