package train

import (
	"errors"

	"nodemask/datasets"
	"nodemask/nmgnn/internal/safetensors"
)

// Spill moves the graph's edges and dense features to unnamed memory-mapped files, which last until the program ends.
// It returns a function that frees memory used by reading ([Batches].Release), or an error for an invalid graph or
// failed writes.
func Spill(g *datasets.Graph, folder string) (release func(), err error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	edges, err := safetensors.NewArray[int32](folder, "", len(g.Edges.Indices))
	if err != nil {
		return nil, err
	}
	features, err := safetensors.NewArray[float32](folder, "", len(g.Features.Dense)) // empty for sparse ones
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

// Amounts to copy before releasing memory.
const (
	rowsAtOnce    = 4096
	numbersAtOnce = 1 << 22
)

// readAs returns features, normalized if asked, and own, the file it wrote them to, if any. release is called after
// reading part of x.
func readAs(x datasets.Features, normalized, onDisk bool, folder string,
	release func()) (read datasets.Features, own *safetensors.Array[float32], err error) {
	switch {
	case !normalized:
		return x, nil, nil
	case x.IsSparse() || !onDisk:
		return x.RowNormalized(), nil, nil
	}
	if own, err = safetensors.NewArray[float32](folder, "", len(x.Dense)); err != nil {
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
