package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/internal/wholefile"
	"nodemask/paper"
	"nodemask/plots"
)

func newReportCommand() *cobra.Command {
	var output, format, folder string
	var holm bool
	c := &cobra.Command{
		Use:   "report [ID…]",
		Short: "Show the paper's tables and figures from the results that there are",
		Long: `Show the paper's tables and figures from the results that there are, beside the published ones, with a verdict on each
claim. The HTML page needs nothing but itself; unless tables or figures are named, it begins with what was found.
'answers' is what node masking changes in the reading that the paper cites, 'summary' the verdict on each claim (each as a
table, or drawn with --format svg).`,
		Example: `  nodemask report -o report.html
  nodemask report table-gat --format markdown
  nodemask report summary
  nodemask report answers`,
		Args: misuseArgs(cobra.ArbitraryArgs),
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&output, "output", "o", "", "file to write (default: report.html for html, else the terminal)")
	flags.StringVar(&format, "format", "html", "html, text, markdown, csv or latex (answers, summary: svg too)")
	flags.StringVar(&folder, "results", "results", "folder of results")
	flags.BoolVar(&holm, "holm", false, "correct tables for the number of comparisons that they make, by Holm's method (the paper does not)")
	c.RunE = func(c *cobra.Command, ids []string) error {
		overview := ""
		if len(ids) == 1 && (ids[0] == paper.SummaryID || ids[0] == paper.AnswersID) {
			overview, ids = ids[0], nil
			if !c.Flags().Changed("format") {
				format = string(plots.FormatText)
			}
		}
		artifacts, err := paper.Reported(ids...)
		if err != nil {
			return artifactError(err, ids, paper.SummaryID, paper.AnswersID)
		}
		svg := format == "svg" && overview != ""
		if !svg && !slices.Contains(plots.Formats(), plots.Format(format)) {
			return misusef("--format %s: expected one of %v", format, plots.Formats())
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return misusef("--results %s: no folder of results there: run it in the folder of the project, or name its results", folder)
		}
		evidence := paper.OpenEvidence(folder)
		if format == string(plots.FormatHTML) && overview == "" {
			if output == "" {
				output = "report.html"
			}
			if err := writeFile(output, func(w io.Writer) error {
				return paper.WriteReport(w, artifacts, evidence, paper.TableOptions{Holm: holm, Alone: len(ids) > 0})
			}); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "wrote %s\n", output)
			return nil
		}
		var text string
		switch {
		case svg:
			var drawing []byte
			drawing, err = drawOverview(overview, artifacts, evidence)
			text = string(drawing)
		case overview == paper.SummaryID:
			text, err = paper.Summary(artifacts, evidence).Render(plots.Format(format))
		case overview == paper.AnswersID:
			var t plots.Table
			if t, err = evidence.AnswersTable(); err == nil {
				text, err = t.Render(plots.Format(format))
			}
		default:
			text, err = renderAll(artifacts, evidence, plots.Format(format), holm)
		}
		if unread := evidence.Err(); unread != nil {
			return unread
		}
		if err != nil {
			return err
		}
		if output != "" {
			return writeFile(output, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		}
		_, err = io.WriteString(c.OutOrStdout(), text)
		return err
	}
	return c
}

// drawOverview draws what 'report answers' and 'report summary' tabulate.
func drawOverview(id string, artifacts []paper.Artifact, e *paper.Evidence) ([]byte, error) {
	if id == paper.SummaryID {
		return paper.ClaimsForest(artifacts, e).SVG()
	}
	gains, err := e.Gains()
	if err != nil {
		return nil, err
	}
	return gains.SVG()
}

// artifactError marks an ID that there is not as misuse, with the one that may be meant: an artifact's, or another name that
// the command takes.
func artifactError(err error, ids []string, others ...string) error {
	known := others
	for _, a := range paper.Artifacts() {
		known = append(known, a.ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return misuse{didYouMean(err, id, known)}
		}
	}
	return misuse{err}
}

// renderAll writes artifacts one below the other; charts are the numbers that they draw.
func renderAll(artifacts []paper.Artifact, e *paper.Evidence, format plots.Format, holm bool) (string, error) {
	var parts []string
	for _, a := range artifacts {
		t, err := e.Table(a, paper.TableOptions{Holm: holm})
		if err != nil {
			return "", fmt.Errorf("%s: %w", a.ID, err)
		}
		text, err := t.Render(format)
		if err != nil {
			return "", fmt.Errorf("%s: %w", a.ID, err)
		}
		parts = append(parts, strings.TrimRight(text, "\n")+"\n")
	}
	return strings.Join(parts, "\n"), nil
}

// writeFile writes a file as a whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	if err := wholefile.Write(path, 0o644, write); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
