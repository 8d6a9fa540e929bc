package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/plots"
)

type dataFlags struct {
	dir  string
	json bool
}

func newDataCommand() *cobra.Command {
	var f dataFlags
	data := &cobra.Command{
		Use:   "data",
		Short: "List, describe and fetch data sets",
		Long: `List, describe and fetch data sets.

NAME is one of those that 'nodemask data list' shows, or the path of a graph of your own:

  a folder with nodes.csv (id,label, features) and edges.csv (source,target)
  a folder of the Open Graph Benchmark (raw/edge.csv.gz, raw/node-feat.csv.gz, …)
  an .npz file in the layout of the gnn-benchmark collection
  a .graphml file, or a .json file of node-link data, as NetworkX writes them
  a .pt file of PyTorch Geometric: Data, (data, slices) or a dictionary of tensors; nothing of it is run

A node's attribute or column label, class or y is its class; train_mask, val_mask and test_mask are the graph's own
split ('train --split own'); other numbers are features. PATH:label=club names the classes otherwise, and
PATH.pt:mask=3 takes column 3, from 0 on, of masks that have several. CSV is UTF-8. What is left out, such as weights
of edges, is said. Files are regular files, no pipes, and what one takes in memory is bounded by its size: 256 MiB and
64 times its bytes. Data sets are looked for in --data-dir, or without it in $NODEMASK_DATA and in the user's cache;
Cora and PubMed are part of the program, and are read from files only where --data-dir names their folder.`,
		RunE: func(*cobra.Command, []string) error {
			return misusef("data: expected list, describe or fetch; see 'nodemask data --help'")
		},
	}
	data.PersistentFlags().StringVar(&f.dir, "data-dir", "", "folder of data sets (default $NODEMASK_DATA, then the "+
		"user's cache)")
	add := func(use, short string, args cobra.PositionalArgs,
		run func(c *cobra.Command, name string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: args}
		c.RunE = func(c *cobra.Command, args []string) error { return dataError(run(c, strings.Join(args, ""))) }
		data.AddCommand(c)
		return c
	}
	list := add("list", "List the known data sets and where they live", cobra.NoArgs, f.list)
	describe := add("describe NAME", "Read a data set and describe it: what was understood, source and licence, degrees, "+
		"classes, homophily, and what may go wrong", cobra.ExactArgs(1), f.describe)
	for _, c := range []*cobra.Command{list, describe} {
		c.Flags().BoolVar(&f.json, "json", false, "write JSON")
	}
	var o datasets.FetchOptions
	fetch := add("fetch NAME", "Download a data set and check its SHA-256", cobra.ExactArgs(1),
		func(c *cobra.Command, name string) error { return f.fetch(c, name, o) })
	fetch.Flags().StringVar(&o.Mirror, "mirror", "", "https:// folder to fetch the same files from")
	return data
}

func (f *dataFlags) fetch(c *cobra.Command, name string, o datasets.FetchOptions) error {
	o.Dir = f.dir
	note := c.ErrOrStderr()
	o.Note = func(line string) { fmt.Fprintln(note, line) }
	progress := newTicker(note)
	o.Progress = func(file string, done, total int64) {
		progress.say("%s: %.1f of %.1f MB", file, float64(done)/1e6, float64(total)/1e6)
	}
	dir, err := datasets.Fetch(c.Context(), name, o)
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), dir)
	}
	return err
}

type listed struct {
	datasets.Info
	Where string `json:"where"`
}

func (f *dataFlags) list(c *cobra.Command, _ string) error {
	w := c.OutOrStdout()
	var all []listed
	for _, info := range datasets.Catalogue() {
		where := "to be fetched"
		at, err := datasets.Locate(info.Name, openOptions(f.dir))
		switch {
		case err == nil:
			where = at.String()
		case !errors.As(err, new(*datasets.NotFoundError)):
			return err
		}
		all = append(all, listed{info, where})
	}
	if f.json {
		return writeJSON(w, all)
	}
	t := plots.Table{ID: "data", TextColumns: 4,
		Header: []string{"kind", "name", "where", "what", "nodes", "edges", "degree", "homophily", "features",
			"classes"},
		Caption: "To fetch one, for instance: nodemask data fetch reddit"}
	for _, l := range all {
		degree, homophily := "", ""
		if l.Nodes > 0 {
			degree = fmt.Sprintf("%.1f", l.MeanDegree())
		}
		if l.Homophily > 0 {
			homophily = fmt.Sprintf("%.2f", l.Homophily)
		}
		t.Rows = append(t.Rows, plots.Fields(l.Kind, l.Name, l.Where, l.Description, count(int64(l.Nodes)), count(l.Edges),
			degree, homophily, count(int64(l.Features)), count(int64(l.Classes))))
	}
	return printTable(w, t)
}

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

type described struct {
	datasets.Description
	What     string      `json:"description,omitempty"`
	Licence  string      `json:"licence,omitempty"`
	Homepage string      `json:"homepage,omitempty"`
	Files    []fileState `json:"files,omitempty"`
	// Beforehand states quantities known before training with 10 % train nodes. Masking is the predicted effect of
	// masking.
	Beforehand string `json:"beforehand,omitempty"`
	Masking    string `json:"masking,omitempty"`
}

type fileState struct {
	datasets.FileCheck
	State string `json:"state"`
}

func (f *dataFlags) describe(c *cobra.Command, name string) error {
	if err := checkDataDir(name, f.dir); err != nil {
		return err
	}
	at, err := datasets.Locate(name, openOptions(f.dir))
	if err != nil {
		return err
	}
	d := described{What: at.Info.Description, Licence: at.Info.Licence, Homepage: at.Info.Homepage}
	err = unlessInterrupted(c.Context(), func() error {
		g, err := datasets.Open(c.Context(), name, openOptions(f.dir))
		if err == nil {
			d.Description = datasets.Describe(g)
			d.Beforehand, d.Masking = outlook(g)
		}
		return err
	})
	if err != nil {
		return err
	}
	checks, err := at.Verify(c.Context())
	if err != nil {
		return err
	}
	for _, check := range checks {
		d.Files = append(d.Files, fileState{check, stateOf(check)})
	}
	w := c.OutOrStdout()
	if f.json {
		return writeJSON(w, d)
	}
	for i, t := range d.tables() {
		if len(t.Rows) == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := printTable(w, t); err != nil {
			return err
		}
	}
	return nil
}

func (d described) tables() []plots.Table {
	facts := plots.Table{ID: "data", Header: []string{"name", d.Name}, TextColumns: 2}
	add := func(name, value string) {
		if value != "" {
			facts.Rows = append(facts.Rows, plots.Fields(name, value))
		}
	}
	add("source", d.Source)
	for _, fact := range d.Facts() {
		add(fact[0], fact[1])
	}
	add("beforehand", d.Beforehand)
	add("masking", d.Masking)
	add("what", d.What)
	add("licence", d.Licence)
	add("homepage", d.Homepage)
	for _, f := range d.Files {
		add("file", fmt.Sprintf("%s  %s  %s", f.Name, f.SHA256, f.State))
	}
	degrees := plots.Table{ID: "degrees", Header: []string{"degree", "nodes", "%"}, TextColumns: 1}
	for _, c := range d.Degrees {
		degrees.Rows = append(degrees.Rows, share(span(c.From, c.To), c.Nodes, d.Nodes))
	}
	classes := plots.Table{ID: "classes", Header: []string{"class", "nodes", "%", "homophily (%)", "by chance"},
		TextColumns: 1}
	for i, c := range d.Classes {
		if i == 50 {
			classes.Caption = fmt.Sprintf("And %d more.", len(d.Classes)-i)
			break
		}
		row, homophily, chance := share(c.Name, c.Nodes, d.Nodes-d.Unlabelled), "–", "–"
		if c.Homophily != nil {
			homophily, chance = fmt.Sprintf("%.1f", 100**c.Homophily), fmt.Sprintf("%.1f", 100*c.Chance)
		}
		classes.Rows = append(classes.Rows, append(row, plots.Fields(homophily, chance)...))
	}
	return []plots.Table{facts, degrees, classes}
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

func span(from, to int) string {
	if from >= to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d–%d", from, to)
}

func share(name string, n, of int) []plots.Field {
	return plots.Fields(name, fmt.Sprint(n), fmt.Sprintf("%.1f", 100*float64(n)/float64(max(of, 1))))
}
