package nb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"nodemask/advice"
	"nodemask/internal/checkout"
	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
)

// Advise shows which regulariser, if any, helps each model on a graph. data names the graph as in [Data]. Without
// models Advise tries GIN, GCN, GraphSAGE and GAT. Advise returns when the answer is clear or the budget is spent. A
// budget of 0 means five minutes; NODEMASK_SMALL divides any budget by ten. The stop button shows the result so far;
// running the notebook cell again continues.
func Advise(data string, budget time.Duration, models ...string) {
	if budget == 0 {
		budget = 5 * time.Minute
	}
	if small() {
		budget /= 10
	}
	if len(models) == 0 {
		models = advice.Models()
	}
	p := notebook.NewProgress("advice on "+data, 0)
	p.Say("Starting …")
	ctx, stop := notebook.UntilStopped()
	defer stop()
	out, err := worker.Output(ctx, Must1(checkout.Root()), p.Say, "advise", "--data", expand(data), "--budget", budget.String(),
		"--models", strings.Join(models, ","), "--json")
	if len(out) == 0 || !errors.Is(err, context.Canceled) {
		Must(err)
	}
	a := new(advice.Advice)
	Must(json.Unmarshal(out, a))
	p.Say(fmt.Sprintf("%d comparisons, in %v.", a.Comparisons, a.Spent.Round(time.Second)))
	showAdvice(a)
}

func showAdvice(a *advice.Advice) {
	text := "**" + a.Sentence + "**"
	if rest := a.Rest(); rest != "" {
		text += "\n\n" + strings.ReplaceAll(rest, "--budget", "budget")
	}
	if a.Command != "" {
		text += "\n\n    " + a.Command
	}
	Markdown(text)
	if f, any := a.Forest(); any {
		showHTML(notebook.Image(Must1(f.SVG()), altOf(f.Title, f.Caption)), f.Title)
	}
	if a.Command != "" {
		Table(a.Table())
	}
}
