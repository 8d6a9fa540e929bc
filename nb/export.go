package nb

import (
	"fmt"
	"html"
	"strconv"

	"github.com/janpfeifer/gonb/gonbui"

	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
	"nodemask/plots"
)

// Export writes a model that 'nodemask train --save-model' saved as an ONNX file, for other programs to run, and says
// what it wrote. An empty output is the model's name with .onnx. It ends the cell if there is no such model.
func Export(model, output string) {
	Must(ask(worker.Request{Export: &worker.Export{Model: model, Output: output}}, func(e worker.Event) {
		if e.Exported != nil {
			Markdown(fmt.Sprintf("Wrote `%s`", e.Exported))
		}
	}))
}

// Explain says why a model that 'nodemask train --save-model' saved gives a node of a graph its class: its aggregation
// tree, where an edge's colour is the sign and its width the size of what the branch adds to the class's logit, and the
// ten branches and features that count most. data is what [Data] takes. It ends the cell if there is no such model,
// graph or node.
func Explain(model, data string, node int32) {
	request := worker.Request{Explain: &worker.Explain{Model: model, Data: data, Node: strconv.Itoa(int(node))}}
	Must(ask(request, func(e worker.Event) {
		if e.Explained != nil {
			showExplained(*e.Explained)
		}
	}))
}

// showExplained shows the sentence, the drawing and the tables, one below the other.
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
