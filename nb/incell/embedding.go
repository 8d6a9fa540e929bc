package incell

import (
	"context"
	"fmt"
	"strings"

	"nodemask/datasets"
	"nodemask/nb"
	"nodemask/nb/internal/notebook"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/train"
	"nodemask/plots"
	"nodemask/stats"
)

// Embedding trains one trial per experiment and shows the first two principal components of the last hidden
// representation, coloured by class, with MAD, the mean cosine distance.
func Embedding(experiments ...train.Experiment) {
	charts := make([]plots.Chart, len(experiments))
	ctx, stop := notebook.UntilStopped()
	defer stop()
	b := Backend()
	for i, x := range experiments {
		r := nb.Must1(x.Run(ctx, b, hyper.Seeds(1, 1), train.RunOptions{}))
		charts[i] = embedding(ctx, b, x, r[0])
	}
	nb.Chart(charts...)
}

func embedding(ctx context.Context, b *backend.Backend, x train.Experiment, r *train.Result) plots.Chart {
	hidden := lastHidden(b, x, r)
	mad := nb.Must1(stats.MAD(ctx, hidden.Values, hidden.Rows, hidden.Width))
	name := nameOf(x)
	if n := x.Parameters.Layers; n != 2 {
		name += fmt.Sprintf(", %d layers", n)
	}
	title := fmt.Sprintf("%s on %s: MAD %.2f, macro F1 %.1f %%", name, x.Graph.Name, mad, 100*r.Test.MacroF1)
	return scatter(title, hidden, x.Graph)
}

func nameOf(x train.Experiment) string {
	name := hyper.Title(x.Parameters.Model)
	if x.Own != nil && len(x.Own.Layers) > 0 {
		_, name, _ = strings.Cut(fmt.Sprintf("%T", x.Own.Layers[0]), ".")
	}
	if x.Parameters.KeepRate.Active() {
		name += " + NM"
	}
	return name
}

func lastHidden(b *backend.Backend, x train.Experiment, r *train.Result) infer.Representation {
	all := nb.Must1(r.Saved(x).Network().Represent(b, x.Graph.Edges, x.Graph.Features, infer.Options{}))
	return all[max(len(all)-2, 0)] // a single layer has only logits
}

// scatter omits nodes of unknown class.
func scatter(title string, h infer.Representation, g *datasets.Graph) plots.Chart {
	x, y, explained, err := principalComponents(h.Values, h.Rows, h.Width)
	nb.Must(err)
	c := plots.Chart{ID: "embedding", Title: title, Width: 480, Height: 420,
		XLabel: fmt.Sprintf("first principal component (%.0f %% of the variance)",
			100*explained[0]), YLabel: fmt.Sprintf("second (%.0f %%)", 100*explained[1])}
	for class, name := range g.Classes {
		s := plots.Series{Name: name, Scattered: true}
		for v, label := range g.Labels {
			if int(label) == class {
				s.X, s.Y = append(s.X, x[v]), append(s.Y, y[v])
			}
		}
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	return c
}
