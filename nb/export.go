package nb

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"

	"nodemask/nb/internal/notebook"
	"nodemask/nb/worker"
	"nodemask/plots"
)

// Export writes a model saved by 'nodemask train --save-model' as an ONNX file, by default under the model's name.
func Export(model, output string) {
	model, output = expand(model), expand(output)
	if output == "" {
		output = strings.TrimSuffix(model, filepath.Ext(model)) + ".onnx"
	}
	command("export", model, "--output", output)
	Markdown(fmt.Sprintf("Wrote `%s`.", output))
}

// Page writes an offline page that trains on a graph of yours, a path as in [Data], and shows a way to open it. The
// first call compiles for a minute.
func Page(data, file string) {
	file = Must1(filepath.Abs(expand(file)))
	command("page", "--data", expand(data), "--output", file)
	showHTML(opening(file, os.Getenv("JUPYTER_ROOT")), fmt.Sprintf("Open %s in a browser.", file))
}

// opening has a button for files that JupyterLab serves: those below its folder, unless hidden. Browsers open no other
// file from a notebook.
func opening(file, root string) string {
	if path, err := filepath.Rel(root, file); err == nil && root != "" && filepath.IsLocal(path) &&
		!strings.Contains("/"+path, "/.") {
		return fmt.Sprintf("<p>Wrote <code>%s</code>. %s</p>", html.EscapeString(file), notebook.Button("Open it",
			"docmanager:open-browser-tab", map[string]string{"path": path}))
	}
	address := html.EscapeString((&url.URL{Scheme: "file", Path: file}).String())
	return fmt.Sprintf(`<p>Copy this address into a browser: <a href="%[1]s">%[1]s</a></p>`, address)
}

// Explain shows why a model saved by 'nodemask train --save-model' gives a node its class: the aggregation tree, with
// each branch's share of the class's logit as colour (sign) and width (size), and the ten largest branches and
// features.
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
