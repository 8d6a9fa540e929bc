package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/internal/evidence"
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
table, or drawn with --format svg). 'summary --format json' is for programs: docs/FORMATS.md says what each field holds.
'summary --format ro-crate' describes the project's folder, which has that of results in it, as an RO-Crate.`,
		Example: `  nodemask report -o report.html
  nodemask report table-gat --format markdown
  nodemask report summary
  nodemask report summary --format json -o claims.json
  nodemask report summary --format ro-crate -o ro-crate-metadata.json
  nodemask report answers`,
		Args: cobra.ArbitraryArgs,
	}
	flags := c.Flags()
	addOutput(flags, &output, "", "file to write (default: report.html for html, else the terminal)")
	flags.StringVar(&format, "format", "html",
		"html, text, markdown, csv or latex (answers, summary: svg too; summary: json, ro-crate)")
	addResults(flags, &folder, "results", "")
	flags.BoolVar(&holm, "holm", false,
		"correct tables for the number of comparisons that they make, by Holm's method (the paper does not)")
	c.RunE = func(c *cobra.Command, ids []string) error {
		overview := ""
		if len(ids) == 1 && (ids[0] == evidence.SummaryID || ids[0] == evidence.AnswersID) {
			overview, ids = ids[0], nil
			if !c.Flags().Changed("format") {
				format = string(plots.FormatText)
			}
		}
		artifacts, err := evidence.Reported(ids...)
		if err != nil {
			return artifactError(err, ids, evidence.SummaryID, evidence.AnswersID)
		}
		svg := format == "svg" && overview != ""
		forPrograms := format == "json" && overview == evidence.SummaryID
		crate := format == "ro-crate" && overview == evidence.SummaryID
		if !svg && !forPrograms && !crate && !slices.Contains(plots.Formats(), plots.Format(format)) {
			return misusef("--format %s: expected one of %v", format, plots.Formats())
		}
		if !isFolder(folder) {
			return misusef("--results %s: no folder of results there: "+
				"run it in the folder of the project, or name its results", folder)
		}
		debug.SetGCPercent(400) // it reads, prints and ends: 130 MB more for a quarter less time
		e := evidence.Open(folder)
		if format == string(plots.FormatHTML) && overview == "" {
			if output == "" {
				output = "report.html"
			}
			if err := writeFile(output, func(w io.Writer) error {
				return evidence.WriteReport(w, artifacts, e, evidence.TableOptions{Holm: holm, Alone: len(ids) > 0})
			}); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "wrote %s\n", output)
			return nil
		}
		var text []byte
		switch {
		case svg:
			text, err = drawOverview(overview, artifacts, e)
		case forPrograms, crate:
			var written bytes.Buffer
			if crate {
				err = evidence.WriteCrate(&written, folder)
			} else {
				err = evidence.WriteClaims(&written, artifacts, e)
			}
			text = written.Bytes()
		default:
			text, err = renderAll(overview, artifacts, e, plots.Format(format), holm)
		}
		if unread := e.Err(); unread != nil {
			return unread
		}
		if err != nil {
			return err
		}
		if output != "" {
			return writeBytes(output, text)
		}
		_, err = c.OutOrStdout().Write(text)
		return err
	}
	return c
}

// drawOverview draws what 'report answers' and 'report summary' tabulate.
func drawOverview(id string, artifacts []evidence.Artifact, e *evidence.Evidence) ([]byte, error) {
	if id == evidence.SummaryID {
		return evidence.ClaimsForest(artifacts, e).SVG()
	}
	gains, err := e.Gains()
	if err != nil {
		return nil, err
	}
	return gains.SVG()
}

// artifactError marks an unknown ID as misuse, with the one that may be meant: an artifact's, or another name that the
// command takes.
func artifactError(err error, ids []string, others ...string) error {
	known := others
	for _, a := range evidence.Artifacts() {
		known = append(known, a.ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return misuse{didYouMean(err, id, known)}
		}
	}
	return misuse{err}
}

// renderAll writes an overview, or artifacts one below the other; charts are the numbers that they draw.
func renderAll(overview string, artifacts []evidence.Artifact, e *evidence.Evidence,
	format plots.Format, holm bool) ([]byte, error) {
	switch overview {
	case evidence.SummaryID:
		text, err := evidence.Summary(artifacts, e).Render(format)
		return []byte(text), err
	case evidence.AnswersID:
		t, err := e.AnswersTable()
		if err != nil {
			return nil, err
		}
		text, err := t.Render(format)
		return []byte(text), err
	}
	var parts []string
	for _, a := range artifacts {
		t, err := e.Table(a, evidence.TableOptions{Holm: holm})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.ID, err)
		}
		text, err := t.Render(format)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.ID, err)
		}
		parts = append(parts, strings.TrimRight(text, "\n")+"\n")
	}
	return []byte(strings.Join(parts, "\n")), nil
}
