package nb

import (
	"fmt"
	"html"
	"path/filepath"
	"strconv"

	"github.com/janpfeifer/gonb/gonbui"

	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
	"nodemask/plots"
)

// Export writes a model saved by 'nodemask train --save-model' as an ONNX file and prints what it wrote. Without output
// it uses the model's name with .onnx. It ends the cell if the model does not exist.
func Export(model, output string) {
	Must(ask(worker.Request{Export: &worker.Export{Model: model, Output: output}}, func(e worker.Event) {
		if e.Exported != nil {
			Markdown(fmt.Sprintf("Wrote `%s`", e.Exported))
		}
	}))
}

// Page writes a page that trains on a graph in a browser, without a network, and says where it is. data is as in
// [Data]. It compiles the page's program first, which takes a minute the first time.
func Page(data, file string) {
	file = Must1(filepath.Abs(expand(file)))
	command("page", "--data", expand(data), "--output", file)
	Markdown(fmt.Sprintf("Open `%s` in a browser.", file))
}

// Explain shows why a model saved by 'nodemask train --save-model' gives a node its class: the aggregation tree, with
// the sign (colour) and size (width) of what each branch adds to the class's logit, and the ten branches and features
// that count most. data is as in [Data]. It ends the cell if the model, graph or node does not exist.
func Explain(model, data string, node int32) {
	request := worker.Request{Explain: &worker.Explain{Model: model, Data: data, Node: strconv.Itoa(int(node))}}
	Must(ask(request, func(e worker.Event) {
		if e.Explained != nil {
			showExplained(*e.Explained)
		}
	}))
}

func showExplained(e worker.Explained) {
	page := "<p>" + html.EscapeString(e.Sentence) + "</p>\n" + notebook.Image([]byte(e.SVG), "What each branch of the tree adds") +
		`<div style="display:flex;flex-wrap:wrap;gap:12px 40px;align-items:flex-start">`
	for _, t := range e.Tables {
		t.ID += "-" + gonbui.UniqueId()
		if len(t.Rows) > 0 {
			page += "<div>" + Must1(t.Render(plots.FormatHTML)) + "</div>\n"
		}
	}
	showHTML(page+"</div>", e.Text)
}
