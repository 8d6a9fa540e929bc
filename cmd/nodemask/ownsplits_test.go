package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// heterophilous writes a graph of 40 nodes in the layout of the heterophilous benchmark, with ten splits.
func heterophilous(t *testing.T) string {
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	member := func(name, kind, shape string, values any) {
		m, err := w.Create(name + ".npy")
		require.NoError(t, err)
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", kind, shape)
		_, err = fmt.Fprintf(m, "\x93NUMPY\x01\x00%s%s", binary.LittleEndian.AppendUint16(nil, uint16(len(header))), header)
		require.NoError(t, err)
		require.NoError(t, binary.Write(m, binary.LittleEndian, values))
	}
	var edges, labels []int64
	var features []float32
	for v := range int64(40) {
		edges = append(edges, v, (v+2)%40, v, (v*7+4)%40)
		labels, features = append(labels, v%2), append(features, float32(v%2), float32(1-v%2))
	}
	member("edges", "<i8", "80, 2", edges)
	member("node_labels", "<i8", "40", labels)
	member("node_features", "<f4", "40, 2", features)
	for set, name := range []string{"train_masks", "val_masks", "test_masks"} {
		var marks []byte
		for split := range 10 {
			for v := range 40 {
				place := min((v/2+split)%20/5, 2) // a quarter each, and two to test
				marks = append(marks, map[bool]byte{true: 1}[place == set])
			}
		}
		member(name, "|b1", "10, 40", marks)
	}
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "roman_empire.npz")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o666))
	return path
}

func TestTenTrialsWalkThroughTheTenSplitsOfAFile(t *testing.T) {
	arguments := []string{"train", "--data", heterophilous(t), "--backend", "go", "--setting", "transductive", "--split",
		"own", "--trials", "10", "--max-epochs", "3", "--hidden", "4"}
	out, errs := succeeds(t, append(arguments, "--json")...)
	hashes := map[any]bool{}
	for _, trial := range jsonLines(t, out) {
		hashes[trial["split_hash"]] = true
		require.Equal(t, true, trial["own_split"])
		require.Contains(t, trial, "auc")
	}
	require.Len(t, hashes, 10)
	require.Contains(t, errs, "a split each")

	out, _ = succeeds(t, arguments...)
	require.Contains(t, out, "its own 10 splits, a trial each: GIN (preset standard)")
	require.Regexp(t, `mean ± std .*│ +\d+\.\d\d( ± \d+\.\d\d)? │ +\d+\.\d\d( ± \d+\.\d\d)? │`, out)
}
