package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
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
	Command string // command that shows the evidence

	cells []record.Cell
}

func (e *Evidence) verdict(c Claim) Verdict {
	return once(e.verdicts, c.ID, func() Verdict { return c.Judge(e) })
}

// Judge returns the verdicts on the artifacts' claims, sorted by subject.
func Judge(artifacts []Artifact, e *Evidence) []Judged {
	var all []Judged
	for _, subject := range Subjects() {
		for _, a := range artifacts {
			for _, c := range a.Claims {
				if c.Subject != subject {
					continue
				}
				j := Judged{Claim: c, Verdict: e.verdict(c), Command: "nodemask report " + a.ID, cells: e.cellsOf(a)}
				switch {
				case j.command != "":
					j.Command = j.command
				case j.Grade == judge.NotRun:
					j.Command = "nodemask reproduce " + a.ID
				}
				all = append(all, j)
			}
		}
	}
	return all
}

func count[T any](all []T, is func(T) bool) (n int) {
	for _, x := range all {
		if is(x) {
			n++
		}
	}
	return n
}

// Summary returns the table of verdicts.
func Summary(artifacts []Artifact, e *Evidence) plots.Table {
	all := Judge(artifacts, e)
	t := plots.Table{ID: SummaryID, Title: "What was found",
		Header: []string{"claim", "verdict", "p < 0.05", "pooled effect [95 %]", "how robust", "rule"}, TextColumns: 6,
		Caption: "Bold: the paper's claims; the others are ours. \u201cp < 0.05\u201d is the paper's own rule: in how many " +
			"comparisons the claim holds significantly."}
	for _, j := range all {
		t.Rows = append(t.Rows, []plots.Field{{Text: j.Text, Bold: !j.Ours, Note: j.Says},
			{Text: j.GradeText(), Note: j.Figures}, {Text: orDash(j.Strict())}, {Text: orDash(j.EffectText())},
			{Text: orDash(j.Robust)}, {Text: orDash(j.Rule)}})
	}
	return t
}

// CountTable counts the paper's claims by grade and subject.
func CountTable(all []Judged) plots.Table {
	t := plots.Table{ID: "counts", TextColumns: 1, Header: []string{"the paper's claims on"},
		Rows: [][]plots.Field{plots.Fields("higher F1 by masking"), plots.Fields("caching"), plots.Fields("anything else")}}
	about := func(subject string) int {
		switch subject {
		case aboutGIN, aboutAttention:
			return 0
		case aboutCaching:
			return 1
		}
		return 2
	}
	for _, g := range judge.Grades() {
		graded := func(j Judged) bool { return !j.Ours && j.Grade == g }
		if count(all, graded) == 0 {
			continue
		}
		t.Header = append(t.Header, string(g))
		for i := range t.Rows {
			n := count(all, func(j Judged) bool { return graded(j) && about(j.Subject) == i })
			t.Rows[i] = append(t.Rows[i], plots.Field{Text: fmt.Sprint(n)})
		}
	}
	return t
}

func orDash(text string) string { return cmp.Or(text, "–") }

// ClaimsForest draws each claim's verdict: the grade, how many comparisons agree significantly, and the pooled effect
// in points of F1, which is above 0 if it agrees with the claim.
func ClaimsForest(artifacts []Artifact, e *Evidence) plots.Forest {
	all := Judge(artifacts, e)
	f := plots.Forest{ID: SummaryID, Title: "The paper's claims, and what was found",
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

// ClaimsVersion is the schema version of [WriteClaims]: it changes if a field disappears or changes its meaning.
const ClaimsVersion = 1

// docs/FORMATS.md describes the fields.
type claimsJSON struct {
	Schema  string      `json:"schema"`
	Version int         `json:"version"`
	Program string      `json:"program"`
	Paper   string      `json:"paper"`
	Claims  []claimJSON `json:"claims"`
}

type claimJSON struct {
	ID         string      `json:"id"`
	Subject    string      `json:"subject"`
	Claim      string      `json:"claim"`
	Quote      string      `json:"quote,omitempty"`
	Ours       bool        `json:"ours"`
	Rule       string      `json:"rule,omitempty"`
	Grade      string      `json:"grade"`
	Effect     *float64    `json:"effect"`
	Interval   *[2]float64 `json:"interval"`
	Unit       string      `json:"unit,omitempty"`
	N          int         `json:"n"`
	P          *float64    `json:"p"`
	Published  *float64    `json:"published"`
	Holds      int         `json:"holds"`
	Against    int         `json:"against"`
	Of         int         `json:"of"`
	Detectable *float64    `json:"detectable,omitempty"`
	Robust     string      `json:"robust,omitempty"`
	Figures    string      `json:"figures"`
	Command    string      `json:"command"`
	Records    []string    `json:"records"`
}

// WriteClaims writes the claims, their grades and their evidence as JSON; docs/FORMATS.md describes the fields.
func WriteClaims(w io.Writer, artifacts []Artifact, e *Evidence) error {
	program, _, _ := strings.Cut(record.Version(), " (") // grades do not depend on the build
	all := claimsJSON{Schema: "nodemask-claims", Version: ClaimsVersion, Program: program,
		Paper: "arXiv:2001.07524", Claims: []claimJSON{}}
	for _, j := range Judge(artifacts, e) {
		c := claimJSON{ID: j.ID, Subject: j.Subject, Claim: j.Text, Quote: j.Says, Ours: j.Ours, Rule: j.Rule,
			Grade: string(j.Grade), Holds: j.Holds, Against: j.Against, Of: j.Of, Robust: j.Robust, Figures: j.Figures,
			Command: j.Command}
		if j.Effect != nil {
			c.Effect, c.P, c.N, c.Unit = finite(j.Effect.MeanDifference), finite(j.Effect.P), j.Effect.N, j.Unit
			if low, high := finite(j.Effect.Low), finite(j.Effect.High); low != nil && high != nil {
				c.Interval = &[2]float64{*low, *high}
			}
		}
		if j.Published != nil {
			c.Published = finite(*j.Published)
		}
		if j.Detectable > 0 {
			c.Detectable = finite(j.Detectable)
		}
		if c.Records = j.files; c.Records == nil {
			c.Records = e.filesOf(j.cells)
		}
		slices.Sort(c.Records)
		c.Records = slices.Compact(c.Records)
		all.Claims = append(all.Claims, c)
	}
	text := json.NewEncoder(w)
	text.SetEscapeHTML(false)
	text.SetIndent("", " ")
	return text.Encode(all)
}

func trialsFile(folder, data, model string) string { return path.Join(folder, data+"-"+model+".jsonl") }

func (e *Evidence) filesOf(cells []record.Cell) []string {
	files := []string{}
	for _, c := range cells {
		_, folder := e.readOff(c)
		if len(e.Records.Trials(c)) > 0 {
			files = append(files, trialsFile(folder, c.Data, c.Parameters.Model))
		}
	}
	return files
}

// finite returns x rounded to six decimals, so that all machines write the same, or nil if x is not finite.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	x = math.Round(x*1e6) / 1e6
	return &x
}
