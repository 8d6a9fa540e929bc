package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/internal/checkout"
	"nodemask/paper/report"
	"nodemask/plots"
)

func newReportCommand() *cobra.Command {
	var output, format, folder, data, model string
	c := &cobra.Command{
		Use:   "report [ID…]",
		Short: "Show the paper's tables and figures from the recorded results",
		Long: `Show the paper's tables and figures from the recorded results, beside the published ones, with a verdict on each
claim. Tables and figures that are named are printed; without names they are a page, after the findings, that needs no
other files. 'answers' is what node masking changes in the reading that the paper cites, 'summary' the verdict on each
claim; 'summary --format json' is for programs: docs/FORMATS.md describes its fields. A part of the protocols (cited,
departures, stated, scale, tables, graphs) prints its numbers.`,
		Example: `  nodemask report -o report.html
  nodemask report table-gat --format markdown
  nodemask report summary
  nodemask report summary --format json -o claims.json
  nodemask report answers
  nodemask report cited --data cora --model gin`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	addOutput(flags, &output, "", "file to write (default: report.html for html, else the terminal)")
	flags.StringVar(&format, "format", "html", "html, text, markdown or csv (summary: json too)")
	addResults(flags, &folder, "results", "")
	addPart(flags, &data, &model)
	c.RunE = func(c *cobra.Command, ids []string) error {
		if part, err := partOf(ids, shownParts()...); part != "" || err != nil {
			if err != nil {
				return err
			}
			r := openPart(c, part, runFlags{folder: resultsBeside(c, folder)}, data, model)
			return unlessInterrupted(c.Context(), r.show)
		}
		if len(ids) > 0 && !c.Flags().Changed("format") {
			format = string(plots.FormatText)
		}
		named, known := ids, plots.Formats()
		if overview := strings.Join(ids, " "); overview == report.SummaryID || overview == report.AnswersID {
			if named = nil; overview == report.SummaryID {
				known = append(known, "json")
			}
		}
		artifacts, err := report.Find(named...)
		if err != nil {
			return misuse{err}
		}
		folder = resultsBeside(c, folder)
		if !isFolder(folder) {
			return misusef("--results %s: no folder of results there: "+
				"run it in the folder of the project, which 'nodemask lab' of the wheel unpacks, or name its results", folder)
		}
		if !slices.Contains(known, plots.Format(format)) {
			return misusef("--format %s: expected one of %v", format, known)
		}
		page := format == string(plots.FormatHTML) && len(ids) == 0
		if page {
			output = cmp.Or(output, "report.html")
		}
		if err := checkWritable("output", output); err != nil {
			return err
		}
		debug.SetGCPercent(400) // 130 MB more memory saves a quarter of the time
		e := report.Open(folder)
		var b strings.Builder
		err = unlessInterrupted(c.Context(), func() (err error) {
			switch {
			case format == "json":
				err = report.WriteClaims(&b, artifacts, e)
			case page:
				err = report.WriteReport(&b, artifacts, e)
			default:
				err = writeTables(&b, ids, artifacts, e, plots.Format(format))
			}
			return cmp.Or(e.Err(), err)
		})
		if err != nil {
			return err
		}
		if output == "" {
			_, err = io.WriteString(c.OutOrStdout(), b.String())
			return err
		}
		if err := writeBytes(output, []byte(b.String())); err != nil || !page {
			return err
		}
		_ = say(c.ErrOrStderr(), "wrote %s", output) // best effort
		return nil
	}
	return c
}

// resultsBeside returns path, the results folder, if --results is set or path is a folder. Otherwise it returns the
// project's folder of this name, or path if the project has none.
func resultsBeside(c *cobra.Command, path string) string {
	for _, project := range checkout.Folders() {
		if beside := filepath.Join(project, path); !c.Flags().Changed("results") && !isFolder(path) && isFolder(beside) {
			return beside
		}
	}
	return path
}

func writeTables(w io.Writer, ids []string, artifacts []report.Artifact, e *report.Evidence,
	format plots.Format) error {
	one := e.Table
	switch strings.Join(ids, " ") {
	case report.SummaryID:
		all := artifacts
		one = func(report.Artifact) (plots.Table, error) { return report.Summary(all, e), nil }
		artifacts = artifacts[:1]
	case report.AnswersID:
		one = func(report.Artifact) (plots.Table, error) { return e.AnswersTable() }
		artifacts = artifacts[:1]
	}
	for i, a := range artifacts {
		t, err := one(a)
		text := ""
		if err == nil {
			text, err = t.Render(format)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.ID, err)
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, strings.TrimRight(text, "\n"))
	}
	return nil
}
