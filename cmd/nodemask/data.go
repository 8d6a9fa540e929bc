package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nodemask/datasets"
	"nodemask/plots"
)

// dataFlags are shared by the subcommands of data.
type dataFlags struct {
	dir  string
	json bool
}

func (f dataFlags) options() datasets.OpenOptions { return openOptions(f.dir) }

// newDataCommand is 'nodemask data': what data sets there are, where they live, and how to get them.
func newDataCommand() *cobra.Command {
	var flags dataFlags
	data := &cobra.Command{
		Use:   "data",
		Short: "List, describe, fetch and verify data sets",
		Long: `List, describe, fetch and verify data sets.

NAME is one of those that 'nodemask data list' shows, or the path of a graph of your own:

  a folder with nodes.csv (id,label, features) and edges.csv (source,target)
  a folder with nodes.parquet and edges.parquet, of the same columns
  a folder of the Open Graph Benchmark (raw/edge.csv.gz, raw/node-feat.csv.gz, …)
  an .npz file in the layout of the gnn-benchmark collection
  a .graphml file, or a .json file of node-link data, as NetworkX writes them
  a .pt file of PyTorch Geometric: Data, (data, slices) or a dictionary of tensors; nothing of it is run

A node's attribute or column label, class or y is its class; train_mask, val_mask and test_mask are the graph's own split
('train --split own'); other numbers are features. CSV is UTF-8. What is left out, such as weights of edges, is said. Files
are regular files, no pipes, and what one takes in memory is bounded by its size: 256 MiB and 64 times its bytes. Data sets are looked for in --data-dir, in $NODEMASK_DATA and in the user's cache; Cora and PubMed are part of the program,
and are read from files only where --data-dir names their folder.`,
		Args: misuseArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return misusef("data: expected list, info, describe, fetch or verify; see 'nodemask data --help'")
		},
	}
	data.PersistentFlags().StringVar(&flags.dir, "data-dir", "", "folder of data sets, looked in first")
	list := &cobra.Command{
		Use:   "list",
		Short: "List the known data sets and where they live",
		Args:  misuseArgs(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return dataList(cmd.OutOrStdout(), flags) },
	}
	info := &cobra.Command{
		Use:   "info NAME",
		Short: "Read a data set and state its counts, classes, source and licence",
		Args:  misuseArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return dataError(dataInfo(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], flags))
		},
	}
	for _, c := range []*cobra.Command{list, info} {
		c.Flags().BoolVar(&flags.json, "json", false, "write JSON")
	}
	data.AddCommand(list, info, newDescribeCommand(&flags), newFetchCommand(&flags), &cobra.Command{
		Use:   "verify NAME",
		Short: "Hold a data set's files against their checksums, and its counts against what is known",
		Args:  misuseArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return dataError(dataVerify(cmd.Context(), cmd.OutOrStdout(), args[0], flags))
		},
	})
	return data
}

func newFetchCommand(flags *dataFlags) *cobra.Command {
	var o datasets.FetchOptions
	fetch := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Download a data set, or continue a download, and check its SHA-256",
		Args:  misuseArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = flags.dir
			note := cmd.ErrOrStderr()
			o.Note = func(line string) { fmt.Fprintln(note, line) }
			if term.IsTerminal(int(os.Stderr.Fd())) {
				bars := &progress{w: os.Stderr}
				o.Progress = bars.show
				o.Note = func(line string) { bars.end(); fmt.Fprintln(note, line) }
				defer bars.end()
			}
			dir, err := datasets.Fetch(cmd.Context(), args[0], o)
			if err != nil {
				return dataError(err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), dir)
			return nil
		},
	}
	fetch.Flags().StringVar(&o.Mirror, "mirror", "", "https:// folder to fetch the same files from")
	return fetch
}

// misuseArgs makes a wrong number of arguments end with exit code 2.
func misuseArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			if cmd.HasAvailableSubCommands() && len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return misusef("%s: %w", cmd.CommandPath(), err)
		}
		return nil
	}
}

// dataError marks a name that cannot be as misuse.
func dataError(err error) error {
	var name *datasets.NameError
	if errors.As(err, &name) {
		var known []string
		for _, info := range datasets.Catalogue() {
			known = append(known, info.Name)
		}
		return misuse{didYouMean(err, name.Name, known)}
	}
	return err
}

// progress draws a bar for each file.
type progress struct {
	w    io.Writer
	file string
	bar  *progressbar.ProgressBar
}

func (p *progress) show(file string, done, total int64) {
	if p.bar == nil || p.file != file {
		p.end()
		p.file = file
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(file),
			progressbar.OptionShowBytes(true), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetSpinnerChangeInterval(0)) // else a bar of unknown length has a goroutine draw it for ever
	}
	_ = p.bar.Set64(done)
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

type listed struct {
	datasets.Info
	Where string `json:"where"`
}

func dataList(w io.Writer, flags dataFlags) error {
	var all []listed
	for _, info := range datasets.Catalogue() {
		where := "to be fetched"
		at, err := datasets.Locate(info.Name, flags.options())
		var missing *datasets.NotFoundError
		switch {
		case err == nil:
			where = at.String()
		case !errors.As(err, &missing):
			return err
		}
		all = append(all, listed{info, where})
	}
	if flags.json {
		return writeJSON(w, all)
	}
	t := plots.Table{ID: "data", Header: []string{"name", "where", "what", "nodes", "edges", "features", "classes"}, TextColumns: 3,
		Caption: "To fetch one, for instance: nodemask data fetch reddit"}
	for _, l := range all {
		t.Rows = append(t.Rows, fields(l.Name, l.Where, l.Description, count(int64(l.Nodes)), count(l.Edges), count(int64(l.Features)), count(int64(l.Classes))))
	}
	return printTable(w, t)
}

// count shows 0, which stands for "not fixed", as nothing.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// described is what 'nodemask data info' states.
type described struct {
	datasets.Description
	What     string      `json:"description,omitempty"`
	Licence  string      `json:"licence,omitempty"`
	Homepage string      `json:"homepage,omitempty"`
	Files    []fileState `json:"files,omitempty"`
}

type fileState struct {
	datasets.FileCheck
	State string `json:"state"`
}

func dataInfo(ctx context.Context, w, notes io.Writer, name string, flags dataFlags) error {
	at, err := datasets.Locate(name, flags.options())
	if err != nil {
		return err
	}
	g, err := openGraph(ctx, notes, name, flags.dir)
	if err != nil {
		return err
	}
	d := described{Description: datasets.Describe(g), What: at.Info.Description, Licence: at.Info.Licence, Homepage: at.Info.Homepage}
	checks, err := datasets.Verify(ctx, name, flags.options())
	if err != nil {
		return err
	}
	for _, c := range checks {
		d.Files = append(d.Files, fileState{c, stateOf(c)})
	}
	if flags.json {
		return writeJSON(w, d)
	}
	return d.write(w)
}

func (d described) write(w io.Writer) error {
	t := factsOf(d.Description)
	add := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, fields(name, value))
		}
	}
	var classes []string
	for _, c := range d.Classes {
		classes = append(classes, fmt.Sprintf("%s: %d", c.Name, c.Nodes))
	}
	add("sizes", strings.Join(classes, ", "))
	add("what", d.What)
	add("licence", d.Licence)
	add("homepage", d.Homepage)
	for _, f := range d.Files {
		add("file", fmt.Sprintf("%s  %s  %s", f.Name, f.SHA256, f.State))
	}
	return printTable(w, t)
}

func stateOf(c datasets.FileCheck) string {
	switch {
	case c.Err != nil:
		return "cannot be read"
	case c.Bad():
		return "DIFFERS from " + c.Want + " (" + c.Origin + ")"
	case c.Want == "":
		return "no checksum known"
	}
	return "ok (" + c.Origin + ")"
}

func dataVerify(ctx context.Context, w io.Writer, name string, flags dataFlags) error {
	checks, err := datasets.Verify(ctx, name, flags.options())
	if err != nil {
		return err
	}
	bad := 0
	for _, c := range checks {
		fmt.Fprintf(w, "%s: %s\n", c.Path, stateOf(c))
		if c.Bad() {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%s: %d of %d files are missing or damaged: run 'nodemask data fetch %s'", name, bad, len(checks), name)
	}
	g, err := datasets.Open(ctx, name, flags.options())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s (%s): %d nodes, %s, %d features, %d classes: sound\n", g.Name, g.Source, g.NumNodes(), g.Report, g.Features.Width, g.NumClasses())
	return err
}
