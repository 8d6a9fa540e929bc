package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"nodemask/paper/judge"
	"nodemask/plots"
)

type section struct {
	Artifact
	Content      template.HTML
	Verdicts     []Judged
	Command      string
	Trials       int
	NothingFound bool
}

// Mark returns a symbol for the grade.
func (v Verdict) Mark() string {
	return cmp.Or(map[judge.Grade]string{judge.Reproduced: "✓", judge.SameDirection: "↗",
		judge.Depends: "±", judge.UnderAPoint: "~", judge.CannotTell: "?", judge.Contradicted: "✗"}[v.Grade], "…")
}

// Class returns the grade as a CSS class.
func (v Verdict) Class() string { return strings.ReplaceAll(string(v.Grade), " ", "-") }

//go:embed report.html.tmpl
var reportTemplate string

// WriteReport writes a self-contained HTML page: the findings, then a folded chapter for each table and figure, with
// command, verdicts, sources and data.
func WriteReport(w io.Writer, artifacts []Artifact, e *Evidence) error {
	// scripts/reports writes between these HTML comments, which a template would drop.
	site := template.HTML("<!-- site --><!-- end of site -->")
	contents := map[string]any{"Site": site}
	var sections []section
	for _, a := range artifacts {
		s, err := newSection(a, e)
		if err != nil {
			return fmt.Errorf("%s: %w", a.ID, err)
		}
		sections = append(sections, s)
	}
	contents["Sections"] = sections
	rank := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(sections, func(a, b section) int { return rank[a.IsChart()] - rank[b.IsChart()] })
	if err := addOverview(contents, artifacts, e); err != nil {
		return err
	}
	page, err := template.New("report").Parse(reportTemplate)
	if err != nil {
		return err
	}
	if err := e.Err(); err != nil {
		return err
	}
	return page.Execute(w, contents)
}

// Clickable returns a drawing's SVG. Its attribute data-places lists the points whose trials a page's script can rerun.
func Clickable(drawing interface {
	SVG() ([]byte, error)
	Places() ([]plots.Place, error)
}) ([]byte, error) {
	svg, err := drawing.SVG()
	if err != nil {
		return nil, err
	}
	places, err := drawing.Places()
	places = slices.DeleteFunc(places, func(p plots.Place) bool { return p.Cell == "" })
	if err != nil || len(places) == 0 {
		return svg, err
	}
	text, err := json.Marshal(places)
	if err != nil {
		return nil, err
	}
	attribute := fmt.Sprintf(`<svg data-places="%s" `, template.HTMLEscapeString(string(text)))
	return bytes.Replace(svg, []byte("<svg "), []byte(attribute), 1), nil
}

func trusted[T string | []byte](text T, err error) (template.HTML, error) {
	return template.HTML(text), err //nolint:gosec // already escaped
}

func addOverview(contents map[string]any, artifacts []Artifact, e *Evidence) error {
	for key, name := range map[string]string{"Answer": "answer", "Why": "why", "Critics": "critics", "Fit": "fit",
		"Todo": "todo"} {
		text, err := e.Prose(name)
		if err != nil {
			text = fmt.Sprintf("These results say otherwise than the project's: %v\n", err)
		}
		contents[key] = proseHTML(text)
	}
	gains, err := e.Gains()
	if err != nil {
		return err
	}
	grid, err := e.Grid()
	if err != nil {
		return err
	}
	answers, err := e.AnswersTable()
	if err != nil {
		return err
	}
	for key, t := range map[string]plots.Table{"Grid": grid, "Table": answers,
		"Counts": CountTable(Judge(artifacts, e))} {
		if contents[key], err = trusted(t.Render("html")); err != nil {
			return err
		}
	}
	if contents["Picture"], err = trusted(Clickable(gains)); err != nil {
		return err
	}
	contents["Forest"], err = trusted(ClaimsForest(artifacts, e).SVG())
	contents["Trials"] = e.Trials()
	return err
}

func newSection(a Artifact, e *Evidence) (s section, err error) {
	s = section{Artifact: a, Command: "nodemask reproduce " + a.ID}
	if a.IsChart() {
		charts := a.Charts(e.Records)
		s.NothingFound = len(charts) == 0
		for _, c := range charts {
			c.ID += "-chart" // the section has the artifact's ID
			svg, err := trusted(Clickable(c))
			if err != nil {
				return s, err
			}
			s.Content += svg
		}
	} else {
		t, err := e.Table(a)
		if err != nil {
			return s, err
		}
		t.ID += "-table"
		if s.Content, err = trusted(t.Render("html")); err != nil {
			return s, err
		}
	}
	s.Verdicts = Judge([]Artifact{a}, e)
	for _, c := range e.cellsOf(a) {
		s.Trials += len(e.Records.Trials(c))
	}
	return s, nil
}
