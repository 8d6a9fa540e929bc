// Command export writes a graph as raw arrays, with the split (10 % train nodes) on which other libraries are compared:
//
//	go run ./scripts/peers/export cora FOLDER
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"nodemask/datasets"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "export: expected a data set and a folder")
		os.Exit(2)
	}
	if err := export(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

func export(ctx context.Context, data, folder string) error {
	g, err := datasets.Open(ctx, data, datasets.OpenOptions{})
	if err != nil {
		return err
	}
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	if err != nil {
		return err
	}
	view, err := datasets.NewView(g, split, datasets.Transductive, datasets.AllEdges)
	if err != nil {
		return err
	}
	x := g.Features.RowNormalized()
	about, err := json.Marshal(map[string]any{"nodes": g.NumNodes(), "edges": g.Edges.NumEdges(), "features": x.Width,
		"classes": g.NumClasses(), "sparse": x.IsSparse()})
	if err != nil {
		return err
	}
	files := map[string]any{"meta.json": about, "offsets.i64": g.Edges.Offsets, "targets.i32": g.Edges.Indices,
		"labels.i32": g.Labels, "train.i32": view.Train.Score, "validation.i32": view.Validation.Score}
	if x.IsSparse() {
		files["x_offsets.i64"], files["x_columns.i32"], files["x_values.f32"] = x.Offsets, x.Columns, x.Values
	} else {
		files["x.f32"] = x.Dense
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for name, array := range files {
		bytes, err := binary.Append(nil, binary.LittleEndian, array)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), bytes, 0o666); err != nil {
			return err
		}
	}
	return nil
}
