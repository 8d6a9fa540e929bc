package report

import (
	"encoding/json"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"nodemask/paper/record"
)

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

// WriteClaims writes each claim as JSON: text, the paper's words, grade, effect with its 95 % interval over n pairs of
// trials, command, and files of trials in the folder of results.
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

// finite rounds to six decimals, equal on all machines; nil if not finite.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	x = math.Round(x*1e6) / 1e6
	return &x
}
