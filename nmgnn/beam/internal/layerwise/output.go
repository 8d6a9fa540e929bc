package layerwise

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"nodemask/datasets"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/infer"
)

// Output selects the folder and the layer to write.
type Output struct {
	Folder string
	// Layer is the layer to write, from 1; 0 means the logits.
	Layer int
}

func (o Output) path(shard, shards int) string {
	return filepath.Join(o.Folder, fmt.Sprintf("nodes-%05d-of-%05d.csv", shard, shards))
}

// check returns an error if the output would replace an input, or if Folder holds shards of another run.
func (o Output) check(shards int, inputs ...string) error {
	own := map[string]bool{}
	for shard := range shards {
		path := o.path(shard, shards)
		if input := wholefile.Replaces(path, inputs...); input != "" {
			return fmt.Errorf("%s: this is %s, which is read: expected another folder for the output", path, input)
		}
		own[filepath.Base(path)] = true
	}
	there, err := fs.Glob(os.DirFS(o.Folder), "nodes-*-of-*")
	if err != nil {
		return err
	}
	for _, file := range there {
		if !own[file] {
			return fmt.Errorf("%s: a file of another run, with another number of shards: choose another "+
				"folder, or delete it", filepath.Join(o.Folder, file))
		}
	}
	return nil
}

type outputFn struct {
	run
	Output Output
}

func (f *outputFn) ProcessElement(ctx context.Context, shard int) error {
	return f.guard(ctx, func() error { return f.table(shard) })
}

func (f *outputFn) table(shard int) error {
	var nodes nodeIDs
	if err := f.read(graphStep, f.file(idsKind, shard), &nodes); err != nil {
		return err
	}
	ids, labels := nodes.IDs, nodes.Labels
	logits, shown, err := f.numbers(shard)
	if err != nil {
		return err
	}
	header := []string{"id", "class", "predicted", "probability"}
	var known, arrive []int
	if f.Cache != "" {
		header = []string{"id", "predicted", "probability", "neighbours", "arrivals"}
		if known, arrive, err = f.counted(shard); err != nil {
			return err
		}
	}
	for k := range shown.Width {
		header = append(header, fmt.Sprintf("h%d", k))
	}
	path := f.Output.path(shard, f.Shards)
	err = wholefile.Write(path, 0o644, func(w io.Writer) error {
		out := csv.NewWriter(w)
		err := out.Write(header)
		p := logits.Softmax()
		for v, class := range logits.Classes() {
			row := []string{ids[v]}
			if f.Cache == "" {
				row = append(row, labels[v])
			}
			row = append(row, f.model.Classes[class], short(p.Row(v)[class]))
			if f.Cache != "" {
				row = append(row, strconv.Itoa(known[v]), strconv.Itoa(arrive[v]))
			}
			for _, x := range shown.Dense[v*shown.Width:][:shown.Width] {
				row = append(row, short(x))
			}
			err = errors.Join(err, out.Write(row))
		}
		out.Flush()
		return errors.Join(err, out.Error())
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func short(x float32) string { return strconv.FormatFloat(float64(x), 'g', -1, 32) }

func (f *outputFn) numbers(shard int) (logits infer.Representation, shown datasets.Features, err error) {
	m := f.model.Network()
	last, all := len(m.Layers), make([]datasets.Features, len(m.Layers)+1)
	for layer := range all {
		if layer == last || m.Readout.All || layer > 0 && layer == f.Output.Layer {
			if all[layer], err = f.rows(layer, shard); err != nil {
				return logits, shown, err
			}
		}
	}
	n := all[last].Rows
	switch {
	case m.Readout.All:
		logits, err = f.readOut(all[0], all[1:])
	case m.Readout.Classes > 0:
		logits, err = f.readOut(datasets.Features{Rows: n, Width: 1, Dense: make([]float32, n)}, all[last:])
	default:
		logits = infer.Representation{Rows: n, Width: all[last].Width, Values: all[last].Dense}
	}
	shown = all[f.Output.Layer]
	if f.Output.Layer == 0 {
		shown = datasets.Features{Rows: n, Width: logits.Width, Dense: logits.Values}
	}
	return logits, shown, err
}

func (f *outputFn) counted(shard int) (known, arrive []int, err error) {
	var n near
	if err := f.read(graphStep, f.file(nearKind, shard), &n); err != nil {
		return nil, nil, err
	}
	known, arrive = make([]int, len(n.Offsets)-1), make([]int, len(n.Offsets)-1)
	for v := range known {
		for _, ref := range n.Refs[n.Offsets[v]:n.Offsets[v+1]] {
			if ref >= reference(f.Shards, 0) {
				known[v]++
			} else {
				arrive[v]++
			}
		}
	}
	return known, arrive, nil
}
