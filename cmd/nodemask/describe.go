package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/datasets/parquet"
	"nodemask/plots"
)

// openOptions are how commands open data sets: with all formats that there are.
func openOptions(dir string) datasets.OpenOptions {
	return datasets.OpenOptions{Dir: dir, Readers: []datasets.Reader{parquet.Reader{}}}
}

// openGraph opens a data set and says on w what its reader left out or took otherwise than it stands there.
func openGraph(ctx context.Context, w io.Writer, name, dir string) (*datasets.Graph, error) {
	g, err := datasets.Open(ctx, name, openOptions(dir))
	if err != nil {
		return nil, err
	}
	for _, remark := range g.Remarks() {
		fmt.Fprintln(w, plots.Plain(g.Name+": "+remark))
	}
	return g, nil
}

func newDescribeCommand(flags *dataFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "describe NAME",
		Short: "Read a data set and describe it: what was understood, degrees, classes, homophily, and what may go wrong",
		Args:  misuseArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := datasets.Open(cmd.Context(), args[0], openOptions(flags.dir))
			if err != nil {
				return dataError(err)
			}
			d := datasets.Describe(g)
			if flags.json {
				return writeJSON(cmd.OutOrStdout(), d)
			}
			return writeDescription(cmd.OutOrStdout(), d)
		},
	}
	c.Flags().BoolVar(&flags.json, "json", false, "write JSON")
	return c
}

// factsOf is what 'data info' and 'data describe' both say.
func factsOf(d datasets.Description) plots.Table {
	t := plots.Table{ID: "data", Header: []string{"name", d.Name}, TextColumns: 2, Rows: [][]plots.Field{fields("source", d.Source)}}
	for _, fact := range d.Facts() {
		t.Rows = append(t.Rows, fields(fact[0], fact[1]))
	}
	return t
}

// writeDescription writes a description as tables.
func writeDescription(w io.Writer, d datasets.Description) error {
	facts := factsOf(d)
	degrees := plots.Table{ID: "degrees", Header: []string{"degree", "", "nodes", "%"}, TextColumns: 2}
	for _, c := range d.Degrees {
		degrees.Rows = append(degrees.Rows, share(span(c.From, c.To), c.Nodes, d.Nodes))
	}
	classes := plots.Table{ID: "classes", Header: []string{"class", "", "nodes", "%", "homophily (%)", "by chance"}, TextColumns: 2}
	for i, c := range d.Classes {
		if i == 50 {
			classes.Caption = fmt.Sprintf("And %d more.", len(d.Classes)-i)
			break
		}
		row, homophily, chance := share(c.Name, c.Nodes, d.Nodes-d.Unlabelled), "–", "–"
		if c.Homophily != nil {
			homophily, chance = fmt.Sprintf("%.1f", 100**c.Homophily), fmt.Sprintf("%.1f", 100*c.Chance)
		}
		classes.Rows = append(classes.Rows, append(row, fields(homophily, chance)...))
	}
	for i, t := range []plots.Table{facts, degrees, classes} {
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

// span is a range of degrees.
func span(from, to int) string {
	if from >= to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d–%d", from, to)
}

// share is a row of a distribution, with a bar.
func share(name string, n, of int) []plots.Field {
	percent := 0.0
	if of > 0 {
		percent = 100 * float64(n) / float64(of)
	}
	return fields(name, strings.Repeat("█", int(percent/2.5+0.5)), fmt.Sprint(n), fmt.Sprintf("%.1f", percent))
}
