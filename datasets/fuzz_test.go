package datasets

import (
	"archive/zip"
	"strings"
	"testing"
)

// sound fails on a graph that breaks what Graph promises.
func sound(t *testing.T, g *Graph) {
	t.Helper()
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	if r := g.Report; r.Edges != g.Edges.NumEdges()/2 || r.Listed != r.Edges+r.SelfLoops+r.Duplicates {
		t.Fatalf("the report %v does not fit %d stored edges", r, g.Edges.NumEdges())
	}
}

// FuzzNPZ reads whole zips, and sound zips of arrays of any bytes.
func FuzzNPZ(f *testing.F) {
	m := tiny()
	dense := npy("<f4", []int{3, 2}, []float32{1, 0, 0, 0, 0.5, 2})
	edges := yandex()["edges"]
	mask, text := npy("|b1", []int{3}, []bool{true, false, true}), npy("<U1", []int{3}, []uint32{'a', 'é', 'b'})
	f.Add(m.Zip(zip.Deflate), m["adj_indptr"], m["adj_indices"], m["adj_shape"], m["labels"], m["attr_data"],
		m["attr_indices"], dense, mask, m["adj_data"], text, edges)
	f.Add(yandex().Zip(zip.Deflate), m["attr_indices"], npy("<i8", []int{3}, []int64{2, 0, 1}), m["adj_shape"], text,
		m["attr_data"], m["attr_indices"], npyWith("{'descr': '>f4', 'fortran_order': True, 'shape': (3, 2), }",
			make([]float32, 6)), npy("<i8", []int{2, 3}, []int64{0, 1, 1, 0, 1, 1}),
		npy("|b1", []int{5}, []bool{true, true, true, false, true}), text, npy("<u2", []int{2, 2}, []uint16{0, 1, 1, 2}))
	f.Add(m.Zip(zip.Store), npy("<i8", []int{4}, []int64{0, 1, 1, 2}), npy("<u2", []int{2}, []uint16{1, 2}),
		m["adj_shape"],
		npy("<U2", []int{3}, []uint32{'a', 0, 'b', '2', 0, 0}), []byte{}, []byte{}, dense,
		npyWith("{'descr': '|u1', 'fortran_order': True, 'shape': (3, 2), }", "\x00\x01\x02\x00\x00\xff"),
		npy("<i8", []int{5}, []int64{0, 1, 0, 1, 1}), npy("|O", []int{3}, "\x80\x04N."), edges)
	huge := tooLarge
	f.Add([]byte("PK"), huge, huge, huge, huge, huge, huge, huge, huge, huge, huge, huge)
	f.Fuzz(func(t *testing.T, raw, indptr, indices, shape, labels, data, columns, dense, mask, weights, names,
		edges []byte) {
		changed := members{"adj_indptr": indptr, "adj_indices": indices, "adj_shape": shape, "labels": labels,
			"attr_data": data, "attr_indices": columns, "train_mask": mask, "val_mask": mask, "adj_data": weights,
			"node_names": names, "class_names": names, "attr_names": names, "other": names}
		heterophilous := yandex().With(members{"edges": edges, "node_labels": labels, "node_features": dense,
			"train_masks": mask, "test_masks": mask})
		if len(data) == 0 {
			changed["attr_data"], changed["attr_matrix"] = nil, dense
		}
		scipy := members{"row": indptr, "col": indices, "shape": shape, "label": labels, "feature": dense}
		for _, b := range [][]byte{raw, tiny().With(changed).Zip(zip.Store), scipy.Zip(zip.Store),
			heterophilous.Zip(zip.Store)} {
			readSound(t, "fuzz.npz", b)
		}
	})
}

// FuzzCSV: whatever nodes and edges can be read survive being written.
func FuzzCSV(f *testing.F) {
	f.Add(tinyNodes, tinyEdges)
	f.Add("\ufeffid,label,x\r\n\"a,\"\"1\"\"\",,1e3\r\n", "source,target,weight\n\n")
	f.Add("label,id\n10,a\n9,b\n", "dst,src\na,b\nb,a\nb,b\n")
	f.Add("id,label,x\n1,2,NaN\n", "source,target\n1")
	f.Add("id;class;x;train_mask\na b;-1;1,5;True\n2;0;.5;\n", "from;to\na b;2\n")
	f.Add("id\ty\tx\tval_mask\na\tb c\tfalse\t1\n2\tnull\tTrue\t0\n", "source\ttarget\na\t2\n")
	f.Add(wide("id,label,x\né,a,1\n9007199254740993,,2\n"), wide("source,target\né,9007199254740993\n"))
	f.Add(",id,label,x,y,weight\r0,a,1,2,1,1\r1,b,0,3,0,2\r", "source,target\ra,b\r")
	f.Fuzz(func(t *testing.T, nodes, edges string) {
		g, err := csvFrom(t, nodes, edges)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error takes several lines: %q", err)
			}
			return
		}
		sound(t, g)
		dir := t.TempDir()
		writeCSV(t, dir, g)
		again, err := Open(t.Context(), dir, OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sameGraph(t, g, again)
	})
}
