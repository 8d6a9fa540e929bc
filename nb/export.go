package nb

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"nodemask/nb/internal/notebook"
)

// Export writes a model saved by 'nodemask train --save-model' as an ONNX file. If output is "", the file is named
// after the model.
func Export(model, output string) {
	model, output = expand(model), expand(output)
	if output == "" {
		output = strings.TrimSuffix(model, filepath.Ext(model)) + ".onnx"
	}
	command("export", model, "--output", output)
	Markdown(fmt.Sprintf("Wrote `%s`.", output))
}

// Page writes an offline page that trains on your graph (a path as in [Data]), and shows how to open the page. The
// first call compiles for a minute.
func Page(data, file string) {
	file = Must1(filepath.Abs(expand(file)))
	command("page", "--data", expand(data), "--output", file)
	showHTML(opening(file, os.Getenv("JUPYTER_ROOT")), fmt.Sprintf("Open %s in a browser.", file))
}

// opening returns a button that opens the file in JupyterLab. JupyterLab serves only files below root that are not
// hidden; for other files opening returns the file's address.
func opening(file, root string) string {
	if path, err := filepath.Rel(root, file); err == nil && root != "" && filepath.IsLocal(path) &&
		!strings.Contains("/"+path, "/.") {
		return fmt.Sprintf("<p>Wrote <code>%s</code>. %s</p>", html.EscapeString(file), notebook.Button("Open it",
			"docmanager:open-browser-tab", map[string]string{"path": path}))
	}
	address := html.EscapeString((&url.URL{Scheme: "file", Path: file}).String())
	return fmt.Sprintf(`<p>Copy this address into a browser: <a href="%[1]s">%[1]s</a></p>`, address)
}

// Explain shows why a model saved by 'nodemask train --save-model' gives a node its class. It draws the aggregation
// tree: each branch has a width proportional to its share of the class's logit, and a colour by the share's sign.
func Explain(model, data string, node int32) {
	folder := Must1(os.MkdirTemp("", "nodemask-*"))
	defer os.RemoveAll(folder) //nolint:errcheck // the system removes what is left
	picture := filepath.Join(folder, "tree.svg")
	out := command("explain", "--model", expand(model), "--data", expand(data), "--node", idOf(Data(data), node),
		"--output", picture)
	sentence, tables, _ := strings.Cut(string(out), "\n\n")
	Markdown(sentence)
	SVG(Must1(os.ReadFile(picture)), "What each branch of the tree adds")
	preformatted(tables)
}
