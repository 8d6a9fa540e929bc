package layerwise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"nodemask/datasets"
	pq "nodemask/datasets/parquet"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/beam/rows"
)

// Input is the files of a graph: CSV or Parquet, with the columns of datasets.ReadCSV. Every worker must be able to read them.
type Input struct{ Nodes, Edges []string }

// Find returns the files of a graph in a folder: nodes.csv and edges.csv, or shards nodes-….csv and edges-….csv, or the same in
// Parquet.
func Find(folder string) (Input, error) {
	var in Input
	for _, part := range []struct {
		name string
		into *[]string
	}{{"nodes", &in.Nodes}, {"edges", &in.Edges}} {
		for _, ending := range []string{".csv", ".parquet"} {
			for _, pattern := range []string{part.name + ending, part.name + "-*" + ending} {
				found, err := Expand(filepath.Join(escape(folder), pattern))
				if err != nil && len(found) > 0 {
					return Input{}, err
				}
				if err == nil && len(*part.into) > 0 {
					return Input{}, fmt.Errorf("%s: both %s and %s: expected one of them", folder, filepath.Base((*part.into)[0]), filepath.Base(found[0]))
				}
				*part.into = append(*part.into, found...)
			}
		}
		if len(*part.into) == 0 {
			return Input{}, fmt.Errorf("%s: no %[2]s.csv or %[2]s.parquet there, and no %[2]s-….csv or %[2]s-….parquet: expected one of them", folder, part.name)
		}
	}
	return in, nil
}

// escape makes a path a pattern of itself alone.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Expand returns the files that a pattern names, such as nodes-*.csv, in their order and with whole paths. It returns an error if there
// is none, or one that is neither CSV nor Parquet.
func Expand(pattern string) ([]string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no such file", pattern)
	}
	for i, path := range found {
		if extension := strings.ToLower(filepath.Ext(path)); extension != ".csv" && extension != ".parquet" {
			return nil, fmt.Errorf("%s: a name that ends in %q: expected .csv or .parquet", path, extension)
		}
		if found[i], err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	return found, checkSets(found)
}

func isParquet(path string) bool { return strings.EqualFold(filepath.Ext(path), ".parquet") }

// scanNodes reads a file of nodes; slices are overwritten by the next.
func scanNodes(ctx context.Context, path string, each func(id, label []byte, features []float32) error) error {
	if isParquet(path) {
		return pq.ScanNodes(ctx, path, each)
	}
	return datasets.ScanNodes(ctx, path, each)
}

func scanEdges(ctx context.Context, path string, each func(source, target []byte) error) error {
	if isParquet(path) {
		return pq.ScanEdges(ctx, path, each)
	}
	return datasets.ScanEdges(ctx, path, each)
}

// What the files between steps hold.
type (
	nodeRow struct {
		ID     string    `parquet:"id"`
		Label  string    `parquet:"label"`
		Degree int64     `parquet:"degree"`
		H      []float32 `parquet:"h,list"`
		Scores []float32 `parquet:"scores,list"`
	}
	nearRow struct {
		ID   string   `parquet:"id"`
		Near []string `parquet:"near,list"`
	}
)

func (r nodeRow) node() Node {
	return Node{Label: r.Label, Row: rows.Row{Degree: int(r.Degree), H: r.H, Scores: r.Scores}}
}

// shardName is what a shard is called: rows-00003-of-00008.shard.
func shardName(kind string, shard, shards int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.shard", kind, shard, shards)
}

// countsName is the file of what was counted in a shard.
func countsName(shard int) string { return fmt.Sprintf("counts-%05d.json", shard) }

// replace writes a file, whole or not at all.
func replace(path string, write func(w io.Writer) error) error {
	if err := wholefile.Write(path, 0o644, write); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Rows written at once, and rows that are held in memory before they are written.
const (
	rowsAtOnce = 256
	rowsInMind = 16 << 10
)

// A shard is Parquet with its checksum behind it: Parquet has checksums of pages, and none of what tells where they are.
const sumBytes = 4

var sumTable = crc32.MakeTable(crc32.Castagnoli)

// writeShard writes a file of the rows that next returns, until it returns false.
func writeShard[T any](path string, next func(row *T) bool) error {
	return replace(path, func(w io.Writer) error {
		sum := crc32.New(sumTable)
		if err := writeRows(io.MultiWriter(w, sum), next); err != nil {
			return err
		}
		_, err := w.Write(sum.Sum(nil))
		return err
	})
}

func writeRows[T any](w io.Writer, next func(row *T) bool) error {
	out := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Snappy))
	var buffer []T
	written := 0
	for {
		var row T
		more := next(&row)
		if more {
			buffer = append(buffer, row)
		}
		if len(buffer) == rowsAtOnce || !more {
			if _, err := out.Write(buffer); err != nil {
				return err
			}
			if written += len(buffer); written >= rowsInMind {
				if err := out.Flush(); err != nil {
					return err
				}
				written = 0
			}
			buffer = buffer[:0]
		}
		if !more {
			return out.Close()
		}
	}
}

// readShard calls each for every row of a file that [writeShard] wrote. What it is given is overwritten by the next.
func readShard[T any](ctx context.Context, path string, each func(row *T)) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	defer func() { // the library may panic over a damaged file
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v", fault)
		}
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s: the file is damaged (%.120s): delete the folder and run the command again", path, err)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size() - sumBytes
	if err := checkSum(f, size); err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	in := parquet.NewGenericReader[T](file)
	defer in.Close()
	for buffer := make([]T, rowsAtOnce); ; {
		clear(buffer) // rows keep their slices
		n, err := in.Read(buffer)
		for i := range buffer[:n] {
			each(&buffer[i])
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// notedSum returns the checksum behind a shard, in hexadecimal. Whether it is that of the shard, reading it tells.
func notedSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	noted := make([]byte, min(info.Size(), sumBytes))
	_, err = f.ReadAt(noted, info.Size()-int64(len(noted)))
	return fmt.Sprintf("%x", noted), err
}

// checkSum compares the first bytes of a shard with the checksum behind them.
func checkSum(f io.ReaderAt, size int64) error {
	if size < 0 {
		return errors.New("it is cut short")
	}
	sum, noted := crc32.New(sumTable), make([]byte, sumBytes)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return err
	}
	if _, err := f.ReadAt(noted, size); err != nil {
		return err
	}
	if !bytes.Equal(noted, sum.Sum(nil)) {
		return fmt.Errorf("checksum %x: expected %x", sum.Sum(nil), noted)
	}
	return nil
}
