package nb

import (
	"nodemask/nb/internal/notebook"
	"nodemask/paper/judge"
)

// Answer shows a figure of the effects of node masking on Cora, and advice.
func Answer() {
	e := saved()
	gains := Must1(e.Gains())
	words := gains.Title + ". " + gains.Caption
	showHTML(notebook.Chart(Must1(gains.SVG()), words, Must1(gains.Places())), words)
	Markdown(Must1(e.Prose("todo")))
}

// Scale shows whether the size of sums explains masking's effect on Cora, by batch normalisation and rescaling.
func Scale() { partForest(judge.Scale) }

// Aggregates shows whether masking's effect on Cora follows the ratio of nodes' sums in testing to those in training.
func Aggregates() {
	chart, _, err := saved().Aggregates(Data("cora"))
	Must(err)
	Chart(chart)
}

// Levels shows masking's effect on GIN against plain GIN's score, in each reading that the paper allows.
func Levels() {
	levels := Must1(saved().Levels())
	SVG(Must1(levels.SVG()), levels.Title+". "+levels.Caption)
	Table(Must1(saved().GINTable()))
}

// Departures shows masking's effect one step away from the cited reading, on Cora.
func Departures() { partForest(judge.Departures) }

func partForest(part judge.Part) {
	f := Must1(saved().PartForest(part))
	SVG(Must1(f.SVG()), f.Title+". "+f.Caption)
}

// Answers shows the numbers behind [Answer]: effects with intervals, published effects, other choices.
func Answers() { Table(Must1(saved().AnswersTable())) }
