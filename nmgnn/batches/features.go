package batches

import (
	"errors"

	"nodemask/datasets"
	"nodemask/nmgnn/internal/mapped"
)

// Spill moves the graph's edges, and its features if they are dense, to files that are mapped into memory: the graph
// reads them there from then on, for as long as the program runs. The files have no names, and go when the program
// ends. release gives back the memory that reading took ([Options].Release). Spill returns an error for a graph that is
// not what it promises ([datasets.Graph.Check]), or if the files cannot be written.
func Spill(g *datasets.Graph, folder string) (release func(), err error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	edges, err := mapped.New[int32](folder, "", len(g.Edges.Indices))
	if err != nil {
		return nil, err
	}
	features, err := mapped.New[float32](folder, "", len(g.Features.Dense)) // none of sparse ones
	if err != nil {
		return nil, errors.Join(err, edges.Close())
	}
	edges.Copy(g.Edges.Indices, nil)
	g.Edges.Indices = edges.Values
	if len(features.Values) > 0 {
		features.Copy(g.Features.Dense, nil)
		g.Features.Dense = features.Values
	}
	return func() {
		edges.Release()
		features.Release()
	}, nil
}

// How much is copied before memory is given back.
const (
	rowsAtOnce    = 4096
	numbersAtOnce = 1 << 22
)

// readAs returns features as a model reads them: divided by the sums of their rows, if asked, and then on the disk.
// release is called when some of x were read. own is the file that they are in, if they are not in x's.
func readAs(x datasets.Features, normalized, onDisk bool, folder string,
	release func()) (read datasets.Features, own *mapped.Array[float32], err error) {
	switch {
	case !normalized:
		return x, nil, nil
	case x.IsSparse() || !onDisk:
		return x.RowNormalized(), nil, nil
	}
	if own, err = mapped.New[float32](folder, "", len(x.Dense)); err != nil {
		return x, nil, err
	}
	for begin := 0; begin < x.Rows; begin += rowsAtOnce {
		end := min(begin+rowsAtOnce, x.Rows)
		part := datasets.Features{Rows: end - begin, Width: x.Width, Dense: x.Dense[begin*x.Width : end*x.Width]}
		copy(own.Values[begin*x.Width:], part.RowNormalized().Dense)
		own.Release()
		release()
	}
	return datasets.Features{Rows: x.Rows, Width: x.Width, Dense: own.Values}, own, nil
}
