package formats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
)

// npz reads one or more zips of numpy arrays as if they were one zip.
type npz struct {
	graphOfArrays
	zips map[string]*graphfile.Zip
	seen map[string]bool
}

// NPZ reads numpy's .npz files in the layout of the gnn-benchmark collection, of the heterophilous benchmark, or of
// Reddit (two files, as DGL and PyTorch Geometric distribute it).
func NPZ(ctx context.Context, files ...*graphfile.File) (*graphfile.Graph, error) {
	z := &npz{zips: map[string]*graphfile.Zip{}, seen: map[string]bool{}}
	z.graphOfArrays = graphOfArrays{Graph: &graphfile.Graph{Format: "npz"}, ctx: ctx, choice: graphfile.ChoiceOf(ctx),
		take: files[0].Take, array: z.member}
	var names []string
	for _, in := range files {
		names = append(names, in.Name)
		zip, err := graphfile.NewZip(ctx, in, "npz", ".npy")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Name, err)
		}
		for name := range zip.Members {
			z.zips[name] = zip
		}
	}
	if err := z.read(); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(names, ", "), err)
	}
	return z.Graph, nil
}

func (z *npz) member(name string) (*numpy.Array, error) {
	z.seen[name] = true
	zip := z.zips[name]
	if zip == nil {
		return nil, nil
	}
	content, err := zip.Read(name)
	if err != nil {
		return nil, err
	}
	return numpy.Parse(fmt.Sprintf("member %q", name), content)
}

func (z *npz) read() (err error) {
	label, features := "labels", "attr_matrix"
	edges := z.adjacency
	switch {
	case z.zips["adj_indptr"] != nil:
	case z.zips["edges"] != nil:
		label, features, edges = "node_labels", "node_features", z.edgeList
	case z.zips["row"] != nil && z.zips["col"] != nil:
		label, features, edges = "label", "feature", z.coordinates
	default:
		return fmt.Errorf("found the members %.200q: expected adj_indptr, adj_indices, labels and attr_matrix or attr_data, "+
			"or edges, node_labels and node_features", slices.Sorted(maps.Keys(z.zips)))
	}
	y, err := z.required(cmp.Or(z.choice.Label, label), "the classes there")
	if err != nil {
		return err
	}
	z.Nodes = int(y.Shape[0])
	if err := edges(); err != nil {
		return err
	}
	names, err := z.texts("class_names", -1)
	if err != nil {
		return err
	}
	if err := z.labels(y, names); err != nil {
		return err
	}
	if z.IDs, err = z.texts("node_names", int64(z.Nodes)); err != nil {
		return err
	}
	if err := z.features(features); err != nil {
		return err
	}
	if z.FeatureNames, err = z.texts("attr_names", int64(z.Features.Width)); err != nil {
		return err
	}
	members := slices.Sorted(maps.Keys(z.zips))
	if err := z.masks(members); err != nil {
		return err
	}
	for _, name := range members {
		if !z.seen[name] {
			z.Notef("member %.80q: left out", name)
		}
	}
	return nil
}

func (z *npz) adjacency() error {
	indptr, err := z.array("adj_indptr")
	if err != nil {
		return err
	}
	indices, err := z.required("adj_indices", "the neighbours of each node")
	if err != nil {
		return err
	}
	offsets, err := z.rowsOf(indptr, indices)
	if err != nil {
		return err
	}
	z.seen["adj_shape"], z.Both = true, true
	row := int64(0)
	if err := z.link(indices.Len(), func(i int64) (node, neighbour int64) {
		if i == 0 {
			row = 0
		}
		for i >= offsets[row+1] {
			row++
		}
		return row, indices.Int(i, 0)
	}); err != nil {
		return fmt.Errorf("adj_indices: %w", err)
	}
	weights, err := z.array("adj_data")
	switch {
	case errors.Is(err, numpy.ErrObjects):
	case weights == nil || err != nil:
		return err
	case len(weights.Shape) != 1 || weights.Len() != indices.Len():
		return weights.Errorf("shape %v: expected [%d]", weights.Shape, indices.Len())
	case !weights.Type.IsText():
		z.dropZeros(weights)
	}
	z.Notef(`"adj_data", the weights of edges: left out`)
	return nil
}

func (z *npz) dropZeros(weights *numpy.Array) {
	zeros := 0
	for i := range weights.Len() {
		if weights.Float(i, 0) == 0 {
			zeros++
		}
	}
	if zeros == 0 {
		return
	}
	z.Notef(`"adj_data": %d entries are 0: no edges`, zeros)
	all := z.Pairs
	z.Pairs = func(yield func(int32, int32) bool) {
		i := int64(-1)
		for v, u := range all {
			if i++; weights.Float(i, 0) != 0 && !yield(v, u) {
				return
			}
		}
	}
}

func (z *npz) edgeList() error {
	a, err := z.array("edges")
	if err != nil {
		return err
	}
	if len(a.Shape) != 2 || a.Shape[1] != 2 || !a.Type.IsWhole() {
		return a.Errorf("shape %v of %v: expected whole numbers [edges, 2]", a.Shape, a.Type)
	}
	return z.link(a.Shape[0], func(i int64) (node, neighbour int64) { return a.Int(i, 0), a.Int(i, 1) })
}

func (z *npz) coordinates() error {
	rows, err := z.array("row")
	if err != nil {
		return err
	}
	columns, err := z.array("col")
	if err != nil {
		return err
	}
	if err := cmp.Or(whole(rows, rows.Len()), whole(columns, rows.Len())); err != nil {
		return err
	}
	z.Both = true
	return z.link(rows.Len(), func(i int64) (node, neighbour int64) { return rows.Int(i, 0), columns.Int(i, 0) })
}

func (z *npz) features(dense string) error {
	if a, err := z.array(dense); err != nil {
		return err
	} else if a != nil {
		return z.dense(a)
	}
	var parts [4]*numpy.Array
	for i, name := range []string{"attr_indptr", "attr_indices", "attr_data", "attr_shape"} {
		var err error
		if parts[i], err = z.required(name, "features, in "+dense+" or sparse in attr_indptr, attr_indices, attr_data and "+
			"attr_shape"); err != nil {
			return err
		}
	}
	if err := whole(parts[3], 2); err != nil {
		return err
	}
	return z.sparse(parts[0], parts[1], parts[2], parts[3].Int(1, 0))
}

// texts returns the strings in a member of the zip. If count is not negative, the member must hold exactly count
// strings. The result is nil if the member is missing or holds Python objects.
func (z *npz) texts(member string, count int64) ([]string, error) {
	a, err := z.array(member)
	switch {
	case errors.Is(err, numpy.ErrObjects):
		if member == "node_names" {
			z.Notef("member %q: left out: it holds Python objects, which only running a pickle could read", member)
		}
		return nil, nil
	case a == nil || err != nil:
		return nil, err
	case len(a.Shape) != 1 || count >= 0 && a.Shape[0] != count:
		return nil, a.Errorf("shape %v: expected [%d]", a.Shape, count)
	}
	if err := z.take(a.Len() * int64(16+a.Type.Size)); err != nil {
		return nil, err
	}
	names := make([]string, a.Len())
	for i := range names {
		names[i] = a.Text(int64(i), 0)
	}
	return names, nil
}
