// Package notebook holds the pictures, live training and stop button that nb and nb/incell share.
package notebook

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"nodemask/plots"
)

// UntilStopped returns a context that the notebook's stop button cancels.
func UntilStopped() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// Image returns an <img> of the drawing, by default on white. A drawing in an <img> cannot take the page's text
// colour, so its dark text would be invisible on a dark page.
func Image(svg []byte, alt string) string {
	if start := bytes.Index(svg, []byte("<svg")); start >= 0 {
		if end := bytes.IndexByte(svg[start:], '>'); end >= 0 && svg[start+end-1] != '/' {
			at := start + end + 1
			svg = bytes.Join([][]byte{svg[:at], svg[at:]}, []byte("<style>:root{background:#fff}</style>"))
		}
	}
	return fmt.Sprintf(`<img src="data:image/svg+xml;base64,%s" alt="%s">`, base64.StdEncoding.EncodeToString(svg),
		html.EscapeString(alt))
}

// Chart returns [Image] with a point at each place: hovering over the point shows its name, a click shows its note. If
// a note has a line "%%", a button runs the lines below as code in a new notebook cell.
func Chart(svg []byte, alt string, places []plots.Place) string {
	picture := Image(svg, alt)
	var points strings.Builder
	for _, p := range places {
		side := "left:0"
		if p.Left > 50 {
			side = "right:0"
		}
		note, cell, runs := strings.Cut(p.Note, "\n%%\n")
		button := ""
		if runs {
			button = runButton("%%\n" + cell)
		}
		fmt.Fprintf(&points, `<details style="position:absolute;left:%v%%;top:%v%%"><summary class="nm-point" title="%[3]s" `+
			`aria-label="%[3]s" style="display:block;width:24px;height:24px;margin:-12px;border-radius:50%%;cursor:pointer">`+
			`</summary><pre style="position:absolute;%s;z-index:9;width:420px;max-height:240px;overflow:auto;`+
			`white-space:pre-wrap;padding:8px;border:1px solid #888;background:#fff;color:#222">%s%s</pre></details>`+"\n",
			p.Left, p.Top, html.EscapeString(p.Name), side, button,
			html.EscapeString(strings.TrimSpace(p.Name+"\n"+note)))
	}
	if points.Len() == 0 {
		return picture
	}
	places = slices.DeleteFunc(slices.Clone(places), func(p plots.Place) bool { return p.Cell == "" })
	if text, err := json.Marshal(places); err == nil && len(places) > 0 {
		picture = strings.TrimSuffix(picture, ">") + fmt.Sprintf(` data-places="%s">`, html.EscapeString(string(text)))
	}
	return `<div class="nm-figure" style="position:relative;display:inline-block;max-width:none">` +
		picture + "\n" + points.String() + "</div>"
}

func runButton(code string) string {
	return Button("Run it again, in a cell below", "apputils:run-all-enabled", map[string]any{
		"commands": []string{"notebook:insert-cell-below", "notebook:replace-selection", "notebook:run-cell"},
		"args":     map[string]string{"text": code}})
}

// Button returns a button that runs one of JupyterLab's commands.
func Button(text, command string, args any) string {
	arguments, err := json.Marshal(args)
	if err != nil {
		return "" // cannot fail for strings
	}
	return fmt.Sprintf(`<button data-commandlinker-command="%s" data-commandlinker-args="%s">%s</button>`+"\n", command,
		html.EscapeString(string(arguments)), html.EscapeString(text))
}
