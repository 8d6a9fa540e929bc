package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
)

// WriteCSV writes a graph to dir as [ReadCSV] reads it, each file in one piece or not at all. A class without nodes is
// not written. It returns an error if ids repeat or cannot be written on one line.
func WriteCSV(dir string, g *Graph) error {
	if err := checkCSVNames(g); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := writeWhole(filepath.Join(dir, csvNodesFile), func(w *bufio.Writer) { writeCSVNodes(w, g) })
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, csvEdgesFile), func(w *bufio.Writer) {
		w.WriteString("source,target\n")
		for v, u := range g.Edges.All() {
			if v < u {
				w.WriteString(csvField(g.nodeID(int(v))))
				w.WriteByte(',')
				w.WriteString(csvField(g.nodeID(int(u))))
				w.WriteByte('\n')
			}
		}
	})
}

// writeWhole writes a file under another name, syncs it and renames it. What the writer could not write, Flush reports.
func writeWhole(path string, write func(w *bufio.Writer)) (err error) {
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Cleanup()) }()
	w := bufio.NewWriterSize(f, 1<<16)
	write(w)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.CloseAtomicallyReplace()
}

func checkCSVNames(g *Graph) error {
	if g.NodeIDs != nil && len(g.NodeIDs) != g.NumNodes() {
		return fmt.Errorf("%d node ids for %d nodes", len(g.NodeIDs), g.NumNodes())
	}
	if len(g.Labels) != g.NumNodes() || g.Features.Rows != g.NumNodes() {
		return fmt.Errorf("%d labels and %d rows of features for %d nodes", len(g.Labels), g.Features.Rows, g.NumNodes())
	}
	seen := make(map[string]bool, len(g.NodeIDs))
	for v, id := range g.NodeIDs {
		if seen[id] || id == "" || strings.ContainsAny(id, "\r\n") {
			return fmt.Errorf("node %d has the id %.80q: expected distinct ids of one line", v, id)
		}
		seen[id] = true
	}
	for v, label := range g.Labels {
		if label != Unlabelled && (label < 0 || int(label) >= len(g.Classes)) {
			return fmt.Errorf("node %d has label %d of %d classes", v, label, len(g.Classes))
		}
	}
	for _, name := range g.Classes {
		if name == "" || strings.ContainsAny(name, "\r\n") {
			return fmt.Errorf("a class is called %.80q: expected names of one line", name)
		}
	}
	return nil
}

func (g *Graph) nodeID(v int) string {
	if g.NodeIDs == nil {
		return strconv.Itoa(v)
	}
	return g.NodeIDs[v]
}

func writeCSVNodes(w *bufio.Writer, g *Graph) {
	w.WriteString("id,label")
	for j := range g.Features.Width {
		fmt.Fprintf(w, ",f%d", j)
	}
	w.WriteByte('\n')
	row := make([]float32, g.Features.Width)
	var text []byte
	for v := range g.NumNodes() {
		w.WriteString(csvField(g.nodeID(v)))
		w.WriteByte(',')
		if label := g.Labels[v]; label != Unlabelled {
			w.WriteString(csvField(g.Classes[label]))
		}
		for _, x := range g.Features.Row(v, row) {
			text = strconv.AppendFloat(append(text[:0], ','), float64(x), 'g', -1, 32)
			w.Write(text)
		}
		w.WriteByte('\n')
	}
}

// csvField quotes what would be read differently otherwise.
func csvField(s string) string {
	if strings.ContainsAny(s, ",\"\ufeff") || strings.Trim(s, " \t") != s {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
