package paper

import (
	"fmt"

	"nodemask/plots"
	"nodemask/record"
)

// SummaryID is the ID of the table of all verdicts.
const SummaryID = "summary"

// paperTrials is how many trials a cell has in the paper.
const paperTrials = 10

// Summary returns the verdict on every claim of the artifacts, each with the command that computes what it rests on.
func Summary(artifacts []Artifact, r *record.Results) plots.Table {
	t := plots.Table{ID: SummaryID, Title: "What was found", Header: []string{"claim", "verdict", "our figures", "command"}, TextColumns: 4,
		Caption: "Bold: the paper's claims; the others are ours. A claim about several sizes or settings is reproduced if it holds for each of them."}
	if fewest, most := trialsPerCell(artifacts, r); most > 0 && fewest < paperTrials {
		t.Caption += fmt.Sprintf(" Cells have %d to %d trials, where the paper has %d: with few, only large differences are significant.", fewest, most, paperTrials)
	}
	for _, a := range artifacts {
		for _, c := range a.Claims {
			v := c.Judge(r)
			t.Rows = append(t.Rows, []plots.Field{
				{Text: fmt.Sprintf("%s: %s", a.Title, c.Text), Bold: !c.Ours}, {Text: string(v.Outcome)}, {Text: v.InBrief()}, {Text: a.command()}})
		}
	}
	return t
}
