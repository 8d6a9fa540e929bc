package batches

import (
	"nodemask/datasets"
	"nodemask/nmgnn/internal/mapped"
)

// Spill moves the graph's features to a file that is mapped into memory, if they are dense: the graph reads them there from then on,
// for as long as the program runs. The file has no name, and goes when the program ends. release gives back the memory that
// reading took ([Options].Release); it is nil where nothing was moved.
func Spill(g *datasets.Graph, folder string) (release func(), err error) {
	if g.Features.IsSparse() || len(g.Features.Dense) == 0 {
		return nil, nil
	}
	file, err := mapped.New[float32](folder, "", len(g.Features.Dense))
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(file.Values); at += numbersAtOnce {
		copy(file.Values[at:], g.Features.Dense[at:min(at+numbersAtOnce, len(file.Values))])
		file.Release()
	}
	g.Features.Dense = file.Values
	return file.Release, nil
}

// store is features, in files if they are not the graph's own.
type store struct {
	features datasets.Features
	dense    *mapped.Array[float32]
}

// How much is copied before memory is given back.
const (
	rowsAtOnce    = 4096
	numbersAtOnce = 1 << 24
)

// readAs returns features as a model reads them: divided by the sums of their rows, if asked, and then on the disk.
func readAs(x datasets.Features, normalized, onDisk bool, folder string) (_ *store, err error) {
	switch {
	case !normalized:
		return &store{features: x}, nil
	case x.IsSparse() || !onDisk:
		return &store{features: x.RowNormalized()}, nil
	}
	s := &store{features: datasets.Features{Rows: x.Rows, Width: x.Width}}
	if s.dense, err = mapped.New[float32](folder, "", len(x.Dense)); err != nil {
		return nil, err
	}
	for begin := 0; begin < x.Rows; begin += rowsAtOnce {
		end := min(begin+rowsAtOnce, x.Rows)
		part := datasets.Features{Rows: end - begin, Width: x.Width, Dense: x.Dense[begin*x.Width : end*x.Width]}
		copy(s.dense.Values[begin*x.Width:], part.RowNormalized().Dense)
		s.dense.Release()
	}
	s.features.Dense = s.dense.Values
	return s, nil
}

func (s *store) close() { _ = s.dense.Close() } // nothing in it is kept
