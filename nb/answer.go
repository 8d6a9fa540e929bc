package nb

import (
	"nodemask/nb/internal/notebook"
	"nodemask/paper/judge"
)

// Answer shows a figure of the effects of node masking on Cora, and what follows for users.
func Answer() {
	e := saved()
	gains := Must1(e.Gains())
	words := gains.Title + ". " + gains.Caption
	showHTML(notebook.Chart(Must1(gains.SVG()), words, Must1(gains.Places())), words)
	Markdown(Must1(e.Prose("todo")))
}

// Scale shows masking's effect on Cora with and without batch normalisation, and with and without rescaling the sums
// over unmasked neighbours, to see whether the size of these sums explains the effect.
func Scale() { partForest(judge.Scale) }

// Aggregates shows whether masking's effect on Cora depends on a ratio: how large sums over neighbours are at test
// time, divided by how large they are in training.
func Aggregates() {
	chart, _, err := saved().Aggregates(Data("cora"))
	Must(err)
	Chart(chart)
}

// Levels charts masking's effect on GIN against GIN's score without masking, with a point for each combination of
// choices that the paper leaves open.
func Levels() {
	levels := Must1(saved().Levels())
	SVG(Must1(levels.SVG()), levels.Title+". "+levels.Caption)
	Table(Must1(saved().GINTable()))
}

// Departures shows masking's effect on Cora when one choice at a time departs from the main interpretation of the
// paper, the cited reading.
func Departures() { partForest(judge.Departures) }

func partForest(part judge.Part) {
	f := Must1(saved().PartForest(part))
	SVG(Must1(f.SVG()), f.Title+". "+f.Caption)
}

// Answers shows the numbers behind [Answer] as a table.
func Answers() { Table(Must1(saved().AnswersTable())) }
