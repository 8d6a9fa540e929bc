package nb

import (
	"nodemask/nb/internal/notebook"
	"nodemask/paper/judge"
)

// Answer shows a figure of what node masking does on Cora, and advice.
func Answer() {
	e := saved()
	gains := Must1(e.Gains())
	words := gains.Title + ". " + gains.Caption
	showHTML(notebook.Chart(Must1(gains.SVG()), words, Must1(gains.Places())), words)
	Markdown(Must1(e.Prose("todo")))
}

// Scale shows whether the size of sums explains the effect of masking on Cora: batch normalisation and rescaling, with
// and without masking.
func Scale() { partForest(judge.Scale) }

// Aggregates shows whether nodes' sums in testing, compared with training, predict the effect of masking on Cora.
func Aggregates() {
	chart, _, err := saved().Aggregates(Data("cora"))
	Must(err)
	Chart(chart)
}

// Levels shows the effect of masking on GIN in each reading of what the paper leaves open, against plain GIN's score,
// and the numbers of the readings next to the cited one.
func Levels() {
	levels := Must1(saved().Levels())
	SVG(Must1(levels.SVG()), levels.Title+". "+levels.Caption)
	Table(Must1(saved().GINTable()))
}

// Departures shows the effect of masking one step away from the cited reading, on Cora.
func Departures() { partForest(judge.Departures) }

func partForest(part judge.Part) {
	f := Must1(saved().PartForest(part))
	SVG(Must1(f.SVG()), f.Title+". "+f.Caption)
}

// Answers shows the numbers behind [Answer]: effects with intervals, the published ones, and robustness.
func Answers() { Table(Must1(saved().AnswersTable())) }
