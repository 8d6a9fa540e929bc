package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
)

func openOptions(dir string) datasets.OpenOptions {
	return datasets.OpenOptions{Dir: dir}
}

// checkDataDir returns an error if --data-dir lacks the data set's files. Another copy must not be used instead,
// because copies may differ in their splits.
func checkDataDir(name, dir string) error {
	at, err := datasets.Locate(name, openOptions(dir))
	if err != nil || dir == "" || len(at.Info.Files) == 0 {
		// Opening the graph will report err, if any. The user's own graphs and generated graphs have no files to check.
		return nil //nolint:nilerr
	}
	within := []string{dir, filepath.Join(dir, at.Info.Name), filepath.Join(dir, "planetoid")}
	if slices.Contains(within, at.Dir) {
		return nil
	}
	return fmt.Errorf("--data-dir %s: %s of %s is neither there nor in its folders %[3]s and planetoid: expected the folder "+
		"that holds it, or no --data-dir, which reads the one at hand (%[4]s)", dir, at.Info.Files[0].Name, at.Info.Name, at)
}

func openGraph(ctx context.Context, w io.Writer, name, dir string) (*datasets.Graph, error) {
	if err := checkDataDir(name, dir); err != nil {
		return nil, err
	}
	g, err := datasets.Open(ctx, name, openOptions(dir))
	if err != nil {
		return nil, dataError(err)
	}
	for _, remark := range g.Remarks() {
		_ = say(w, "%s: %s", g.Name, remark)
	}
	return g, nil
}

func dataError(err error) error {
	if errors.As(err, new(*datasets.NameError)) {
		return misuse{err}
	}
	return err
}

func match(m *cached.Model, names []string, f datasets.Features, file string,
	notes io.Writer) (datasets.Features, error) {
	f, moved, err := m.Match(names, f, file)
	if moved && err == nil {
		err = say(notes, "%s: its features are in another order than the model was trained on: they are matched by name",
			file)
	}
	return f, err
}

// No output may be an input, even through links.
var (
	outputFlags = []string{"output", "save-model"}
	inputFlags  = []string{"again", "data", "data-dir", "edges", "model", "nodes", "results"}
)

func inputsOf(flag, value, dataDir string) []string {
	switch {
	case flag == "data":
		return graphFiles(value, dataDir)
	case flag == "data-dir", // --data reads from it
		flag == "model" && slices.Contains(hyper.Models(), value): // train's --model is a name
		return nil
	case flag == "results":
		return slices.DeleteFunc(filesBelow(value), func(path string) bool { return filepath.Ext(path) != ".jsonl" })
	}
	return []string{value}
}

func checkOutputs(c *cobra.Command) error {
	value := func(flag string) string {
		if f := c.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	for _, name := range outputFlags {
		output := value(name)
		if output == "" {
			continue
		}
		for _, flag := range inputFlags {
			if value(flag) == "" || wholefile.Replaces(output, output) == "" { // a missing file is no input
				continue
			}
			if input := wholefile.Replaces(output, inputsOf(flag, value(flag), value("data-dir"))...); input != "" {
				return misusef("--%s %s: this is %s of --%s, which the command reads: expected another file", name, output,
					input, flag)
			}
		}
	}
	return nil
}

func graphFiles(name, dataDir string) []string {
	at, err := datasets.Locate(name, openOptions(dataDir))
	if err != nil {
		return nil
	}
	if at.Path == "" {
		var files []string
		for _, f := range at.Info.Files {
			files = append(files, filepath.Join(at.Dir, f.Name))
		}
		return files
	}
	all := filesBelow(at.Path)
	part := func(path, start string) bool {
		return filepath.Dir(path) == filepath.Clean(at.Path) && strings.HasPrefix(strings.ToLower(filepath.Base(path)), start)
	}
	if !slices.ContainsFunc(all, func(path string) bool { return part(path, "nodes.") }) {
		return all
	}
	return slices.DeleteFunc(all, func(path string) bool { return !part(path, "nodes") && !part(path, "edges") })
}

func filesBelow(path string) (files []string) {
	if path == "" {
		return nil
	}
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && entry != nil && entry.IsDir():
			return fs.SkipDir
		case err == nil && !entry.IsDir():
			files = append(files, path)
		}
		return nil // the command reports the error when it reads the file
	})
	return files
}

func writeFile(path string, write func(io.Writer) error) error {
	if err := wholefile.Write(path, 0o644, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func writeBytes(path string, content []byte) error {
	return writeFile(path, func(w io.Writer) error { _, err := w.Write(content); return err })
}

func checkEnding(output string, endings ...string) error {
	if output != "" && !slices.Contains(endings, strings.ToLower(filepath.Ext(output))) {
		return misusef("--output %s: expected a name that ends in %s", output, strings.Join(endings, " or "))
	}
	return nil
}

func writeTable(c *cobra.Command, rows iter.Seq[[]string], output string) error {
	write := func(w io.Writer, field func(string) string) error {
		out := csv.NewWriter(w)
		for row := range rows {
			for i := range row {
				row[i] = field(row[i])
			}
			if err := cmp.Or(c.Context().Err(), out.Write(row)); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}
	if output == "" {
		return write(c.OutOrStdout(), shown)
	}
	return writeFile(output, func(w io.Writer) error {
		return write(w, func(text string) string { return text })
	})
}

// shown puts U+FFFD in place of characters that would control a terminal.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

func checkWritable(flag, file string) error {
	if file == "" {
		return nil
	}
	name, folder := "--"+flag+" "+file, filepath.Dir(file)
	if !isFolder(folder) {
		return misusef("%s: there is no folder %s", name, folder)
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return misusef("%s: this is a folder: expected a file", name)
	} else if err == nil && !info.Mode().IsRegular() {
		return nil // devices and pipes need no temporary file beside them
	}
	probe, err := os.CreateTemp(folder, ".nodemask-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return fmt.Errorf("%s: nothing can be written there: %w", name, err)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
