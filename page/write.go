package page

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/stats"
)

//go:embed playground.html.tmpl
var pageTemplate string

//go:embed src/page.css
var style string

// script is built by 'node build.mjs' from the folder src and the script that draws trees.
//
//go:embed playground.js
var script string

// Front is the script of a front page. It trains models in each element with the attribute data-nodemask-live, using
// nodemask.js, which [WriteModule] writes.
//
//go:embed front.js
var Front string

// Options configure a page.
type Options struct {
	Title  string // "" means a default
	Module Module
	// Beside names the file in the page's folder that holds the program; "" means that the program is in the page.
	Beside string
	// Data names the data sets that are stored in script files next to the page ([DataScript]).
	Data []string
	// Results are recorded trials, shown next to those run on the page.
	Results *record.Results
	// Files are the user's graph: one .npz, .graphml, .json or .pt file, or nodes.csv and edges.csv.
	Files []File
}

// File is a file in a page, as base64.
type File struct {
	Name  string `json:"name"`
	Bytes []byte `json:"base64"`
}

// Module is a compiled cmd/nodemask-wasm, and Go's script that starts it.
type Module struct {
	Exec string // text of the script wasm_exec.js from the Go release that compiled the program
	Gzip []byte
}

type config struct {
	Module   moduleConfig            `json:"module"`
	Recorded map[string]recorded     `json:"recorded"`
	Axes     map[string][]judge.Axis `json:"axes"` // choices that the paper leaves open, per model
	Files    []File                  `json:"files,omitempty"`
	Data     []string                `json:"data,omitempty"`  // next to the page
	Saved    *savedConfig            `json:"saved,omitempty"` // shown at first
}

type moduleConfig struct {
	Src   string `json:"src,omitempty"`
	Bytes int    `json:"bytes"`
}

func axes() (map[string][]judge.Axis, error) {
	all := map[string][]judge.Axis{}
	for _, model := range judge.Models() {
		var err error
		if all[model], err = judge.Axes(model); err != nil {
			return nil, err
		}
	}
	return all, nil
}

type recorded struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

type choice struct{ Name, Title string }

// Write writes a page that trains models in the browser, offline and with nothing installed.
func Write(w io.Writer, o Options) error {
	open, err := axes()
	if err != nil {
		return err
	}
	c := config{Module: moduleConfig{Src: o.Beside, Bytes: len(o.Module.Gzip)}, Recorded: map[string]recorded{},
		Axes: open, Data: o.Data, Files: o.Files}
	if len(o.Files) == 0 {
		if c.Saved, err = newSavedConfig(context.Background()); err != nil {
			return err
		}
	}
	if o.Results != nil {
		c.Recorded = summaries(o.Results)
	}
	var shown struct{ Seed uint64 }
	if err := json.Unmarshal(saved, &shown); err != nil {
		return err
	}
	text, err := json.Marshal(c) // escapes <, > and &, so no name can end the script element
	if err != nil {
		return err
	}
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return err
	}
	title := o.Title
	if title == "" {
		title = "The playground: node masking, live"
	}
	data := []choice{{"cora", "Cora"}}
	for _, name := range o.Data {
		data = append(data, choice{template.HTMLEscapeString(name), template.HTMLEscapeString(report.DataTitle(name))})
	}
	data = append(data, choice{"pubmed", "PubMed"}, choice{"sbm", "random blocks (small)"})
	var models []choice
	for _, name := range hyper.Models() {
		models = append(models, choice{name, hyper.Title(name)})
	}
	return t.Execute(w, map[string]any{
		"Title": template.HTMLEscapeString(title), "Policy": policy(o.Beside != ""), "Style": style, "Script": script,
		"Seed": shown.Seed, "Config": string(text), "Inline": o.Beside == "", "Exec": inert(o.Module.Exec), "Data": data, "Models": models,
		"Module": base64.StdEncoding.EncodeToString(o.Module.Gzip),
	})
}

// DataScriptName returns the file name of the script from [DataScript].
func DataScriptName(name string) string { return "data-" + name + ".js" }

// DataScript returns a script that gives pages a data set that the program lacks. The files must suit
// [datasets.ReadMemory].
func DataScript(name string, files []File) ([]byte, error) {
	all, err := json.Marshal(map[string][]File{name: files})
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "window.nodemaskData = Object.assign(window.nodemaskData || {}, %s)\n", all), nil
}

// inert keeps "</script>" in text from ending the script element.
func inert(text string) string { return strings.ReplaceAll(text, "</", `<\/`) }

// policy returns a Content-Security-Policy that allows only the page's script and files, and inline styles because
// drawn trees use them.
func policy(beside bool) string {
	hash := sha256.Sum256([]byte(script))
	own, from := "", "'none'"
	if beside {
		own, from = " file: 'self'", "'self'" // a served page may stream the program
	}
	return fmt.Sprintf("default-src 'none'; script-src 'sha256-%s' 'wasm-unsafe-eval' blob:%s; worker-src blob:; "+
		"style-src 'unsafe-inline'; img-src data: blob:; connect-src %s; base-uri 'none'; form-action 'none'",
		base64.StdEncoding.EncodeToString(hash[:]), own, from)
}

// Served returns files to serve next to a page with [Options].Beside set. These files let browsers compile the
// program during the download.
func Served(m Module) []File {
	return []File{{Name: "nodemask-exec.js", Bytes: []byte(m.Exec)}, {Name: "nodemask.wasm.packed", Bytes: m.Gzip}}
}

// WriteModule writes m as the script file that [Options].Beside names.
func WriteModule(w io.Writer, m Module) error {
	text, err := json.Marshal(map[string]any{"exec": m.Exec, "gzip": m.Gzip})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "window.nodemaskModule = %s\n", text)
	return err
}

func summaries(r *record.Results) map[string]recorded {
	all := map[string]recorded{}
	for _, c := range report.CellsOf(report.Artifacts()) {
		if values := r.Values(c, record.MacroF1); len(values) > 1 {
			s := stats.Summarize(values)
			all[c.Key()] = recorded{s.N, s.Mean, s.StdDev}
		}
	}
	return all
}
