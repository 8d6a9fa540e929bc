package main

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/hyper"
)

// Flags that name what is written, and what is read, of every command. No output may be one of the inputs, whatever
// link leads there.
var (
	outputFlags = []string{"output", "save-model", "save-cache"}
	inputFlags  = map[string]func(value, dataDir string) []string{
		"data": graphFiles, "data-dir": func(string, string) []string { return nil }, // of which --data reads
		"model":   func(value, _ string) []string { return without(value, hyper.Models()) }, // train's is a name
		"results": func(value, _ string) []string { return withEnding(filesBelow(value), ".jsonl") },
		"edges":   oneFile, "nodes": oneFile, "cache": oneFile, "again": oneFile,
	}
)

func oneFile(value, _ string) []string { return []string{value} }

func without(value string, names []string) []string {
	if slices.Contains(names, value) {
		return nil
	}
	return []string{value}
}

// checkOutputs returns an error if one of a command's outputs is one of its inputs, or another output.
func checkOutputs(c *cobra.Command) error {
	var named []string // flags of outputs
	for _, name := range outputFlags {
		if f := c.Flags().Lookup(name); f != nil && f.Value.String() != "" {
			named = append(named, name)
		}
	}
	value := func(flag string) string {
		if f := c.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	for i, name := range named {
		for _, other := range named[:i] {
			if wholefile.Same(value(name), value(other)) {
				return misusef("--%s %s: --%s names the same file: expected another", name, value(name), other)
			}
		}
		for _, flag := range slices.Sorted(maps.Keys(inputFlags)) {
			if value(flag) == "" || wholefile.Replaces(value(name), value(name)) == "" { // a file that is not there is no input
				continue
			}
			inputs := inputFlags[flag](value(flag), value("data-dir"))
			if err := checkOutput("--"+name, value(name), "--"+flag, inputs...); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOutput returns an error if writing a file would replace one of those that are read.
func checkOutput(flag, output, of string, inputs ...string) error {
	if input := wholefile.Replaces(output, inputs...); input != "" {
		return misusef("%s %s: this is %s of %s, which the command reads: expected another file", flag, output, input, of)
	}
	return nil
}

// graphFiles lists what a reader may open of a graph: files of nodes and edges in a folder that has them, as other
// files there are not read, and else all of a folder.
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

// filesBelow lists a file, or all files in a folder and those in it.
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
		return nil // what cannot be read, reading it tells
	})
	return files
}

func withEnding(files []string, ending string) []string {
	return slices.DeleteFunc(files, func(path string) bool { return filepath.Ext(path) != ending })
}
