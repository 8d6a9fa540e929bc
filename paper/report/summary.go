package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
)

// SummaryID names the table and the figure of all verdicts.
const SummaryID = "summary"

const paperTrials = 10

// Judged is a claim with its verdict.
type Judged struct {
	Claim
	Verdict
	Command string // shows the evidence

	cells []record.Cell
}

func (e *Evidence) verdict(c Claim) Verdict {
	return once(e.verdicts, c.ID, func() Verdict { return c.Judge(e) })
}

// Judge returns the verdicts on the artifacts' claims, by subject.
func Judge(artifacts []Artifact, e *Evidence) []Judged {
	var all []Judged
	for _, subject := range Subjects() {
		for _, a := range artifacts {
			for _, c := range a.Claims {
				if c.Subject != subject {
					continue
				}
				j := Judged{Claim: c, Verdict: e.verdict(c), Command: a.shown(), cells: e.cellsOf(a)}
				switch {
				case j.command != "":
					j.Command = j.command
				case j.Grade == judge.NotRun:
					j.Command = a.command()
				}
				all = append(all, j)
			}
		}
	}
	return all
}

// Count returns the paper's claims per grade, and in all.
func Count(all []Judged) (grades map[judge.Grade]int, claims int) {
	grades = map[judge.Grade]int{}
	for _, j := range all {
		if !j.Ours {
			grades[j.Grade]++
			claims++
		}
	}
	return grades, claims
}

// CountText returns "Of the paper's 45 claims 5 are graded “reproduced”, …".
func CountText(all []Judged) string {
	grades, claims := Count(all)
	var parts []string
	for _, g := range judge.Grades() {
		if n := grades[g]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, g))
		}
	}
	return fmt.Sprintf("Of the paper's %d claims: %s.", claims, strings.Join(parts, ", "))
}

// Summary returns the table of verdicts.
func Summary(artifacts []Artifact, e *Evidence) plots.Table {
	all := Judge(artifacts, e)
	t := plots.Table{ID: SummaryID, Title: "What was found",
		Header: []string{"claim", "verdict", "p < 0.05", "pooled effect [95 %]", "how robust", "command", "rule"}, TextColumns: 7,
		Caption: CountText(all) + " Bold: the paper's claims; the others are ours. \u201cp < 0.05\u201d is the paper's own " +
			"rule: in how many comparisons the claim holds significantly."}
	if fewest, most := e.trialsPerCell(artifacts); most > 0 && fewest < paperTrials {
		t.Caption += fmt.Sprintf(" Cells have %d to %d trials, where the paper has %d.", fewest, most, paperTrials)
	}
	for _, j := range all {
		t.Rows = append(t.Rows, []plots.Field{{Text: j.Text, Bold: !j.Ours, Note: j.Says},
			{Text: j.GradeText(), Note: j.Figures}, {Text: orDash(j.Strict())}, {Text: orDash(j.EffectText())},
			{Text: orDash(j.Robust)}, {Text: j.Command},
			{Text: orDash(j.Rule)}})
	}
	return t
}

// CountTable returns the paper's claims by grade and subject.
func CountTable(all []Judged) plots.Table {
	t := plots.Table{ID: "counts", TextColumns: 1, Header: []string{"the paper's claims on"}}
	about := []struct {
		title string
		has   func(subject string) bool
	}{{"higher F1 by masking", func(s string) bool { return s == aboutGIN || s == aboutAttention }},
		{"caching", func(s string) bool { return s == aboutCaching }},
		{"anything else", func(s string) bool { return s != aboutGIN && s != aboutAttention && s != aboutCaching }}}
	total, _ := Count(all)
	for _, g := range judge.Grades() {
		if total[g] > 0 {
			t.Header = append(t.Header, string(g))
		}
	}
	for _, of := range about {
		grades, _ := Count(slices.DeleteFunc(slices.Clone(all), func(j Judged) bool { return !of.has(j.Subject) }))
		row := plots.Fields(of.title)
		for _, g := range t.Header[1:] {
			row = append(row, plots.Field{Text: fmt.Sprint(grades[judge.Grade(g)])})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func orDash(text string) string { return cmp.Or(text, "–") }

// ClaimsForest returns the figure of verdicts: grade, the paper's own rule, and the pooled effect in points of F1,
// above 0 if it agrees.
func ClaimsForest(artifacts []Artifact, e *Evidence) plots.Forest {
	all := Judge(artifacts, e)
	f := plots.Forest{ID: SummaryID, Title: CountText(all),
		XLabel: "pooled effect, above 0 as the claim says (points of F1)", Width: 1200, Columns: []string{"p < 0.05",
			"verdict"},
		Caption: "Each claim with its pooled effect and 95 % interval over seeds, where it is about F1; in how many " +
			"comparisons it holds significantly; and its grade. \u201c(ours)\u201d marks what the paper does not claim."}
	for _, j := range all {
		if n := len(f.Groups); n == 0 || f.Groups[n-1].Name != j.Subject {
			f.Groups = append(f.Groups, plots.ForestGroup{Name: j.Subject})
		}
		row := plots.Effect{Label: strings.TrimSuffix(j.Text, "."), TextOnly: true,
			Fields: []string{j.Strict(), string(j.Grade)}}
		if j.Ours && j.Subject != aboutBeyond {
			row.Label += " (ours)"
		}
		if j.Effect != nil && j.Unit == points {
			row.TextOnly, row.Value, row.Low, row.High = false, j.Effect.MeanDifference, j.Effect.Low, j.Effect.High
		}
		g := &f.Groups[len(f.Groups)-1]
		g.Rows = append(g.Rows, row)
	}
	return f
}
