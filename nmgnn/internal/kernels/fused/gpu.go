//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels/fused/triton"
)

// ForGPU has computations for a backend call kernels in Triton's IR: with XLA, such as XLA compiles for CUDA. The
// pure-Go backend runs them by run, which is given the slices of numbers of their inputs and outputs; for XLA it is
// nil. An error says why this version of go-xla cannot call them.
func ForGPU(b compute.Backend, run func(k triton.Kernel, arrays []any) error) error {
	if run == nil {
		if err := checkXLA(); err != nil {
			return fmt.Errorf("XLA cannot call our kernels: %w", err)
		}
	}
	gpus.Store(b, &ours{run})
	return nil
}

// toTriton returns the kernel of that name in Triton's IR, and its inputs in the order in which it takes them.
func toTriton(name string, rows, columns int, x []*Node) (triton.Kernel, []*Node, error) {
	name, isLong := strings.CutSuffix(name, longRows)
	if strings.HasPrefix(name, attendKernel) {
		return attendsInTriton(name, isLong, x)
	}
	s := triton.Sum{Rows: rows, Width: columns}
	name, isSplit := strings.CutSuffix(name, splitRows)
	name, isParts := strings.CutSuffix(name, partsOfRows)
	var parts []*Node
	if isSplit {
		x, parts = x[:len(x)-1], x[len(x)-1:]
	}
	switch name {
	case timesKernel:
	case timesHeardKernel:
		s.Heard = true
	case timesWantedKernel:
		s.Wanted = true
	case timesDroppedKernel:
		s.Dropped, s.Trials = true, x[0].Shape().Dimensions[0]
	case leakySlopesKernel:
		s.Leaky = true
	case totalKernel, highestKernel:
		s.Greatest, s.Own = name == highestKernel, len(x) == 2
		if !s.Own {
			x = []*Node{x[0], x[2], x[1]} // what belongs to an entry is the row of h in its column
		}
	case agreementKernel, leakyScoresKernel:
		a := triton.Agreement{Rows: x[2].Shape().Dimensions[0], Width: width(x[2]), Heads: columns, Long: isLong}
		if a.Leaky = name == leakyScoresKernel; a.Leaky {
			a.Trials = x[4].Shape().Dimensions[0]
		}
		return a.Kernel(), x, nil
	default:
		return triton.Kernel{}, nil, fmt.Errorf("there is no %s for GPUs", name)
	}
	if of := x[slices.Index(s.Inputs(), "h")+1:]; len(of) > 0 {
		s.Heads, s.Positions = width(of[0]), len(of) > 1
	}
	switch {
	case isParts:
		s.Rows, s.Split = x[slices.Index(s.Inputs(), "offsets")].Shape().Dimensions[0]-1, triton.Block
		return s.Parts(rows * triton.Block), x, nil
	case isSplit:
		s.Split = triton.Block
	}
	return s.Kernel(), slices.Concat(x, parts), nil
}

// attendsInTriton is toTriton for attention and its gradient.
func attendsInTriton(name string, isLong bool, x []*Node) (triton.Kernel, []*Node, error) {
	first := 0 // of the inputs that there always are: offsets, columns, h, and the scores or alpha
	kind, heard := strings.CutSuffix(name, heardOnly)
	if heard {
		first = 1
	}
	a := triton.Attend{Rows: x[first].Shape().Dimensions[0] - 1, Width: width(x[first+2]), Heads: width(x[first+3]),
		Scored: strings.Contains(kind, fromScores), Dropout: strings.HasSuffix(kind, dropout), Heard: heard,
		Long: isLong}
	if kind != attendBackwardKernel {
		return a.Kernel(), x, nil
	}
	a.Scored = len(x)-first == 8 // and not 10: e for source, target and slope
	if a.Dropout = x[first+3] != x[first+4]; !a.Dropout {
		x = slices.Delete(slices.Clone(x), first+4, first+5) // kept is alpha
	}
	return a.Backward(), x, nil
}

// parts returns what blocks of a kernel's entries add up to, if its rows are split.
func parts(m Matrix, kernel string, width int, inputs []*Node) []*Node {
	blocks := m.entries() / triton.Block
	if !m.Long || blocks == 0 || !IsForGPU(inputs[0].Graph()) {
		return nil
	}
	return call(kernel+partsOfRows, [][2]int{{blocks, width}}, inputs...)
}

// toGPU returns the inputs of a call of a kernel in the order in which Triton's takes them, and what makes the call
// that returned results one of that; nil: the computation is not for a GPU.
func toGPU(g *Graph, kernel string, result [2]int, inputs []*Node) (x []*Node, replace func(results []*Node) error) {
	how := oursOn(g)
	if how == nil {
		return inputs, nil
	}
	k, x, err := toTriton(kernel, result[0], result[1], inputs)
	if err != nil {
		panic(err)
	}
	return x, func(results []*Node) error { return replaceByTriton(g, k, how.run, results) }
}

// replaceByTriton makes the call that returned results one of a kernel.
func replaceByTriton(g *Graph, k triton.Kernel, run func(k triton.Kernel, arrays []any) error, results []*Node) error {
	if run == nil {
		return makeForeign(triton.Target, k.Config(), 2, values(results))
	}
	t, isGo := runsInGo(g)
	if !isGo {
		return errors.New("neither XLA nor the pure-Go backend")
	}
	return t.replace(results, func(x, y []array) {
		var all []any
		for _, a := range append(x, y...) {
			switch {
			case a.floats != nil:
				all = append(all, a.floats)
			case a.ints != nil:
				all = append(all, a.ints)
			default:
				all = append(all, a.bits)
			}
		}
		if err := run(k, all); err != nil {
			panic(err)
		}
	})
}
