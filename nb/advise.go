package nb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nodemask/internal/advice"
	"nodemask/internal/checkout"
	"nodemask/internal/worker"
)

// Advise says which regulariser, if any, helps a graph, and for which of some models (none: the usual four): the answer
// in a sentence, the effects with intervals, and the numbers. data is a name or a path, as [Data] takes it. It ends
// when the answer is clear or the budget is spent (0: five minutes; a tenth of it at small size), and the stop button
// ends it with what is known then. Trials are kept: run the cell again, or the command 'nodemask advise', to go on.
func Advise(data string, budget time.Duration, models ...string) {
	ctx, stop := interruptible()
	defer stop()
	if budget == 0 {
		budget = 5 * time.Minute
	}
	if small() {
		budget /= 10
	}
	p := NewProgress("advice on "+data, 0)
	var a *advice.Advice
	err := worker.Run(ctx, Must1(checkout.Root()), worker.Request{Advise: &worker.Advising{Data: data, Models: models,
		Budget: budget}}, func(e worker.Event) {
		switch {
		case e.Doing != "":
			p.say(e.Doing)
		case e.Advice != nil:
			a = e.Advice
		}
	})
	if a == nil || !errors.Is(err, context.Canceled) {
		Must(err)
	}
	p.say(fmt.Sprintf("%d comparisons, in %v.", a.Comparisons, a.Spent.Round(time.Second)))
	showAdvice(a)
}

// showAdvice shows the answer, the picture and the table.
func showAdvice(a *advice.Advice) {
	text := "**" + a.Sentence + "**"
	for _, more := range []string{a.Rest(), a.Command} {
		switch {
		case more == "":
		case more == a.Command:
			text += "\n\n    " + more
		default:
			text += "\n\n" + more
		}
	}
	Markdown(text)
	if f, any := a.Forest(); any {
		HTML(image(Must1(f.SVG()), altOf(f.Title, f.Caption)), f.Title)
	}
	if a.Command != "" { // something was compared
		Table(a.Table())
	}
}
