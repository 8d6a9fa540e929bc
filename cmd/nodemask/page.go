package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/checkout"
	"nodemask/internal/wholefile"
	"nodemask/page"
	"nodemask/paper/record"
	"nodemask/paper/report"
)

func newPageCommand() *cobra.Command {
	var output, site, data, folder string
	c := &cobra.Command{
		Use:   "page",
		Short: "Write a page that trains in a browser, without a network and with nothing installed",
		Long: `Write a page that trains in a browser, without a network and with nothing installed.

The page holds this program, compiled to WebAssembly, and with --data a graph of your own: one file to send to
somebody. It is compiled from the source, so the command runs in the project's folder and takes a minute the first
time.`,
		Example: `  nodemask page -o page.html
  nodemask page --data my-graph -o page.html
  nodemask page --site reports`,
	}
	flags := c.Flags()
	addOutput(flags, &output, "page.html", "the page")
	flags.StringVar(&data, "data", "",
		"a graph to put into it: a folder with nodes.csv and edges.csv, or an .npz, .graphml, .json or .pt file")
	flags.StringVar(&site, "site", "", "write playground.html into this folder instead, and beside it nodemask.js, the "+
		"program, front.js, by which other pages use it, and trials.js, the recorded trials that they run again; a server streams it from nodemask.wasm.packed; CiteSeer too, "+
		"if it is at hand")
	addResults(flags, &folder, "results", " to compare with")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if site == "" {
			if err := checkWritable("output", output); err != nil {
				return err
			}
		}
		o := page.Options{}
		var err error
		if data != "" {
			if o.Files, err = filesOf(c.Context(), data); err != nil {
				return misusef("--data %s: %w", data, err)
			}
			o.Title = fmt.Sprintf("Node masking on %s", strings.TrimSuffix(filepath.Base(data), filepath.Ext(data)))
		}
		project, err := checkout.Root()
		if err != nil {
			return fmt.Errorf("a page is compiled from the project's source: %w", err)
		}
		o.Results = report.Open(folder).Records
		if o.Module, err = page.Build(c.Context(), project); err != nil {
			return err
		}
		if site != "" {
			o.Beside, output = "nodemask.js", filepath.Join(site, "playground.html")
			if err := os.MkdirAll(site, 0o777); err != nil {
				return err
			}
			module := func(w io.Writer) error { return page.WriteModule(w, o.Module) }
			if err := writeFile(filepath.Join(site, o.Beside), module); err != nil {
				return err
			}
			trials, err := page.TrialsScript(o.Results, record.Open(filepath.Join(folder, report.PagesFolder)))
			if err != nil {
				return err
			}
			served := append(page.Served(o.Module), page.File{Name: "front.js", Bytes: []byte(page.Front)},
				page.File{Name: page.TrialsScriptName, Bytes: trials})
			for _, f := range served {
				if err := writeBytes(filepath.Join(site, f.Name), f.Bytes); err != nil {
					return err
				}
			}
			if o.Data, err = besideOf(c.Context(), site, "citeseer"); err != nil {
				return err
			}
		}
		if err := writeFile(output, func(w io.Writer) error {
			return cmp.Or(page.Write(w, o), o.Results.Err())
		}); err != nil {
			return err
		}
		return say(c.ErrOrStderr(), "wrote %s", output)
	}
	return c
}

// besideOf writes a script file with a data set, because the page's program does not contain it, and returns the data
// set's name. If the data set is unavailable, besideOf returns no name and removes the script of an earlier run.
func besideOf(ctx context.Context, folder, name string) (written []string, err error) {
	path := filepath.Join(folder, page.DataScriptName(name))
	at, err := datasets.Locate(name, openOptions(""))
	if errors.As(err, new(*datasets.NotFoundError)) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if _, err := datasets.Open(ctx, name, openOptions("")); err != nil { // report damaged files here, not on a page
		return nil, err
	}
	var files []page.File
	for _, f := range at.Info.Files {
		content, err := os.ReadFile(filepath.Join(at.Dir, f.Name))
		if err != nil {
			return nil, err
		}
		files = append(files, page.File{Name: f.Name, Bytes: content})
	}
	script, err := page.DataScript(name, files)
	if err != nil {
		return nil, err
	}
	return []string{name}, writeBytes(path, script)
}

const mostInPage = 100 << 20

func filesOf(ctx context.Context, path string) (files []page.File, err error) {
	names := []string{path}
	if isFolder(path) {
		names = []string{filepath.Join(path, "nodes.csv"), filepath.Join(path, "edges.csv")}
	}
	read := map[string][]byte{}
	for _, name := range names {
		file, err := wholefile.Open(name)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(io.LimitReader(file, mostInPage+1))
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		if len(content) > mostInPage {
			return nil, fmt.Errorf("%s: more than %d MB: expected less in a page", name, mostInPage>>20)
		}
		read[filepath.Base(name)] = content
		files = append(files, page.File{Name: filepath.Base(name), Bytes: content})
	}
	_, err = datasets.ReadMemory(ctx, path, read)
	return files, err
}
