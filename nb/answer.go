package nb

import (
	"nodemask/nb/internal/notebook"
	"nodemask/paper/judge"
)

// Answer shows what node masking does on Cora, in a figure, and what to do with it.
func Answer() {
	e := saved()
	gains := Must1(e.Gains())
	showHTML(notebook.Image(Must1(gains.SVG()), gains.Title+". "+gains.Caption), gains.Title+". "+gains.Caption)
	Markdown(Must1(e.Prose("todo")))
}

// Scale shows whether the size of sums explains what masking does: batch normalisation and rescaling, with and without
// masking, on Cora.
func Scale() { partForest(judge.Scale) }

// Aggregates shows whether what nodes sum up in testing, beside training, predicts what masking adds, on Cora.
func Aggregates() { Chart(Must1(saved().Aggregates(Data("cora")))) }

// Levels shows what masking adds to GIN in each reading of what the paper is silent about, by how GIN does without it,
// and the numbers of the readings next to the cited one.
func Levels() {
	levels := Must1(saved().Levels())
	SVG(Must1(levels.SVG()), levels.Title+". "+levels.Caption)
	Table(Must1(saved().GINTable()))
}

// Departures shows what masking does one step away from the cited reading, on Cora.
func Departures() { partForest(judge.Departures) }

func partForest(part judge.Part) {
	f := Must1(saved().PartForest(part))
	SVG(Must1(f.SVG()), f.Title+". "+f.Caption)
}

// Answers shows the numbers behind [Answer]: effects with intervals, beside the published ones, and how robust they
// are.
func Answers() { Table(Must1(saved().AnswersTable())) }
