package race

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"nodemask/datasets"
)

// Export writes a graph and its split as raw arrays that any language reads, for contenders of other libraries, into a
// temporary folder of its own.
func Export(g *datasets.Graph, view *datasets.View) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "nodemask-bench-"); err != nil {
		return "", err
	}
	x := g.Features.RowNormalized()
	about, err := json.Marshal(map[string]any{"nodes": g.NumNodes(), "edges": g.Edges.NumEdges(), "features": x.Width,
		"classes": g.NumClasses(), "sparse": x.IsSparse()})
	if err != nil {
		return "", err
	}
	files := map[string]any{"meta.json": about, "offsets.i64": g.Edges.Offsets, "targets.i32": g.Edges.Indices,
		"labels.i32": g.Labels, "train.i32": view.Train.Score, "validation.i32": view.Validation.Score}
	if x.IsSparse() {
		files["x_offsets.i64"], files["x_columns.i32"], files["x_values.f32"] = x.Offsets, x.Columns, x.Values
	} else {
		files["x.f32"] = x.Dense
	}
	for name, array := range files {
		bytes, err := binary.Append(nil, binary.LittleEndian, array)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), bytes, 0o666)
		}
		if err != nil {
			_ = os.RemoveAll(folder)
			return "", fmt.Errorf("writing %s for other libraries: %w", name, err)
		}
	}
	return folder, nil
}
