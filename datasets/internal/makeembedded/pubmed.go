package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"nodemask/datasets"
	"nodemask/datasets/internal/packed"
)

// readPubMed reads Planetoid's PubMed and takes its tf-idf values apart: entry (v, c) is count/length(v)·weight(c).
func readPubMed(ctx context.Context, files fs.FS) (*packed.Graph, error) {
	g, err := datasets.ReadPlanetoid(ctx, files, "pubmed")
	if err != nil {
		return nil, err
	}
	f := g.Features
	p := &packed.Graph{
		Name: g.Name, Classes: g.Classes, Labels: g.Labels, Edges: g.Edges, Report: g.Report,
		Width: f.Width, Offsets: f.Offsets, Columns: f.Columns,
	}
	if err := factor(p, f.Values); err != nil {
		return nil, err
	}
	if !slices.Equal(p.Values(), f.Values) {
		return nil, fmt.Errorf("counts, lengths and weights do not give the values back")
	}
	return p, nil
}

// factor finds the counts, lengths and weights behind values, or says that there are none.
//
// It begins with a row's smallest entry as the row's unit, 1/length, and alternates: counts are the entries over
// unit·weight, rounded; units and weights are medians of what the counts say. That converges to the precision of
// float32. Units are then multiples of 1/length for whole lengths, which gives the scale; and the exact weight of a
// column lies in the intersection of what each of its entries allows.
func factor(p *packed.Graph, values []float32) error {
	rows := len(p.Labels)
	columns := make([][]int64, p.Width) // entries of each column
	rowOf := make([]int, len(values))
	for v := range rows {
		for i := p.Offsets[v]; i < p.Offsets[v+1]; i++ {
			columns[p.Columns[i]] = append(columns[p.Columns[i]], i)
			rowOf[i] = v
		}
	}
	weights := make([]float64, p.Width)
	for c, entries := range columns {
		weights[c] = math.Log(float64(rows) / float64(max(len(entries), 1)))
	}
	units := make([]float64, rows)
	counts := make([]float64, len(values))
	var list []float64
	for round := range 12 {
		for v := range rows {
			list = list[:0]
			for i := p.Offsets[v]; i < p.Offsets[v+1]; i++ {
				list = append(list, float64(values[i])/weights[p.Columns[i]])
			}
			if round == 0 && len(list) > 0 {
				units[v] = slices.Min(list)
			}
			for k, i := 0, p.Offsets[v]; i < p.Offsets[v+1]; k, i = k+1, i+1 {
				counts[i] = max(1, math.Round(list[k]/units[v]))
				list[k] /= counts[i]
			}
			if len(list) > 0 {
				units[v] = median(list)
			}
		}
		for c, entries := range columns {
			list = list[:0]
			for _, i := range entries {
				list = append(list, float64(values[i])/(counts[i]*units[rowOf[i]]))
			}
			if len(list) > 0 {
				weights[c] = median(list)
			}
		}
	}
	scale, err := step(units)
	if err != nil {
		return err
	}
	p.Lengths = make([]uint32, rows)
	p.Counts = make([]uint32, len(values))
	for v := range rows {
		if err := count(p, v, 1/(units[v]*scale), scale, values, weights); err != nil {
			return err
		}
	}
	p.Weights = make([]float64, p.Width)
	for c, entries := range columns {
		low, high := 0.0, math.Inf(1)
		for _, i := range entries {
			share := float64(p.Counts[i]) / float64(p.Lengths[rowOf[i]])
			x := values[i]
			below := (float64(math.Nextafter32(x, 0)) + float64(x)) / 2
			above := (float64(math.Nextafter32(x, 2*x)) + float64(x)) / 2
			low, high = max(low, below/share), min(high, above/share)
		}
		if !(low < high) {
			return fmt.Errorf("column %d: no weight gives all its values", c)
		}
		p.Weights[c] = (low + high) / 2
	}
	return nil
}

func median(list []float64) float64 {
	slices.SortFunc(list, cmp.Compare[float64])
	return list[len(list)/2]
}

// step returns the number of which all 1/units are multiples: that of length 1.
func step(units []float64) (float64, error) {
	var inverse []float64
	for _, u := range units {
		if u > 0 {
			inverse = append(inverse, 1/u)
		}
	}
	slices.Sort(inverse)
	var gaps []float64
	for i := 1; i < len(inverse); i++ {
		if gap := inverse[i] - inverse[i-1]; gap > 1e-5*inverse[i] {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) == 0 {
		return 0, fmt.Errorf("all rows have one length")
	}
	k := median(gaps)
	for range 8 {
		list := make([]float64, len(inverse))
		for i, x := range inverse {
			list[i] = x / math.Round(x/k)
		}
		k = median(list)
	}
	return k, nil
}

// count finds row v's length and counts. A row whose smallest count is above 1 looked shorter than it is, so multiples
// of the apparent length are tried.
func count(p *packed.Graph, v int, apparent, scale float64, values []float32, weights []float64) error {
	begin, end := p.Offsets[v], p.Offsets[v+1]
	if begin == end {
		p.Lengths[v] = 1
		return nil
	}
	const close = 1e-5
multiples:
	for multiple := range 20 {
		exact := apparent * float64(multiple+1)
		length := math.Round(exact)
		if length < 1 || math.Abs(exact-length) > close*length {
			continue
		}
		for i := begin; i < end; i++ {
			exact := float64(values[i]) / weights[p.Columns[i]] * scale * length
			n := math.Round(exact)
			if n < 1 || math.Abs(exact-n) > close*n {
				continue multiples
			}
			p.Counts[i] = uint32(n)
		}
		p.Lengths[v] = uint32(length)
		return nil
	}
	return fmt.Errorf("row %d: no length makes its entries whole counts", v)
}
