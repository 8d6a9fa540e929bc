package notebooktest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// written returns a notebook file with these code cells.
func written(t *testing.T, cells ...string) string {
	var list []map[string]any
	for i, code := range cells {
		list = append(list, map[string]any{"cell_type": "code", "id": fmt.Sprintf("cell-%d", i), "source": code,
			"metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil})
	}
	text, err := json.Marshal(map[string]any{"cells": list, "nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{
		"kernelspec": map[string]any{"name": "nodemask", "display_name": "Go (nodemask)", "language": "go"}}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "cells.ipynb")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	return file
}

// cellJS is an expression for a cell's widget in the notebook shown.
func cellJS(i int) string {
	return fmt.Sprintf(`jupyterapp.shell.currentWidget.content.widgets[%d]`, i)
}

// outputJS is an expression for a cell's whole output.
func outputJS(i int) string { return cellJS(i) + `.outputArea.node.textContent` }

// enter makes a cell current, with the cursor at its end.
func enter(t *testing.T, ctx context.Context, i int) {
	eval[any](t, ctx, fmt.Sprintf(`(() => { const c = jupyterapp.shell.currentWidget.content; c.activeCellIndex = %d; `+
		`c.mode = 'edit'; const e = c.activeCell.editor, n = e.lineCount - 1; e.focus(); `+
		`e.setCursorPosition({line: n, column: e.getLine(n).length}) })()`, i))
}

// run starts a cell, as Shift+Enter does.
func run(t *testing.T, ctx context.Context, i int) {
	enter(t, ctx, i)
	require.NoError(t, chromedp.Run(ctx, chromedp.KeyEvent("\r", chromedp.KeyModifiers(2))))
}

// click clicks on the middle of an element.
func click(t *testing.T, ctx context.Context, element string) {
	at := eval[[2]float64](t, ctx, fmt.Sprintf(`(e => { e.scrollIntoView({block: 'center'}); `+
		`const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })(%s)`, element))
	require.NoError(t, chromedp.Run(ctx, chromedp.MouseClickXY(at[0], at[1])))
}

// completed presses Tab at the end of a cell until names are offered, and returns the time of the last Tab.
func completed(t *testing.T, ctx context.Context, i int, name string) time.Duration {
	offered := fmt.Sprintf(`[...document.querySelectorAll('.jp-Completer-item')].some(e => e.textContent.includes(%q))`, name)
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		enter(t, ctx, i)
		begin := time.Now()
		require.NoError(t, chromedp.Run(ctx, chromedp.KeyEvent(kb.Tab)))
		if soon(ctx, offered, 1500*time.Millisecond) {
			took := time.Since(begin)
			names := eval[[]string](t, ctx, `[...document.querySelectorAll('.jp-Completer-match')].map(e => e.textContent)`)
			assert.NotContains(t, fmt.Sprint(names), "Test")
			require.NoError(t, chromedp.Run(ctx, chromedp.KeyEvent(kb.Escape)))
			return took
		}
	}
	require.Fail(t, "Tab does not offer "+name)
	return 0
}

// finished returns the number of finished trials that a cell shows; 0: not shown.
func finished(t *testing.T, ctx context.Context, i int) int {
	said := regexp.MustCompile(`(?:Stopped: )?(\d+) (?:of \d+ )?trials`).FindStringSubmatch(eval[string](t, ctx, outputJS(i)))
	if said == nil {
		return 0
	}
	n, err := strconv.Atoi(said[1])
	require.NoError(t, err)
	return n
}

func TestAFreshKernelCompletesSweepsAndStops(t *testing.T) {
	notebook := written(t, "%%\nnb.Data(\"cora\")", "%%\nnb.", "%%\ng := nb.Data(\"cora\")\ng.",
		"%%\nnb.Sweep(\"cora\", []string{\"gin\", \"gcn\", \"sage\"}, []float64{0.3, 0.5, 1}, 3)")
	ctx, complaints := openLab(t, "", map[string]string{"cells.ipynb": notebook})
	begin := time.Now()
	took := func(what string, time, bar time.Duration) {
		t.Logf("%s: %.2f s, on an idle machine at most %v", what, time.Seconds(), bar)
	}
	show(t, ctx, "cells.ipynb")
	run(t, ctx, 0)
	until(t, ctx, outputJS(0)+`.includes('2,708 nodes')`)
	took("from opening the notebook to what its first cell shows", time.Since(begin), 5*time.Second)
	took("Tab after nb.", completed(t, ctx, 1, "Tree"), time.Second)
	took("Tab after g.", completed(t, ctx, 2, "NumClasses"), time.Second)

	const sweep = 3
	run(t, ctx, sweep)
	until(t, ctx, fmt.Sprintf(`/\b[2-9] of 27 trials/.test(%s)`, outputJS(sweep)))
	stopped := time.Now()
	require.NoError(t, chromedp.Run(ctx, chromedp.Click(`button[data-command="notebook:interrupt-kernel"], `+
		`jp-button[data-command="notebook:interrupt-kernel"]`, chromedp.ByQuery)))
	until(t, ctx, outputJS(sweep)+`.includes('run the cell again to go on')`)
	took("■", time.Since(stopped), 4*time.Second)
	kept := finished(t, ctx, sweep)
	run(t, ctx, sweep)
	until(t, ctx, fmt.Sprintf(`/of 27 trials run in/.test(%s)`, outputJS(sweep)))
	assert.Equal(t, 27-kept, finished(t, ctx, sweep), "what was finished is not run again")
	until(t, ctx, cellJS(sweep)+`.node.querySelectorAll('img').length === 3`)
	// The element under the middle of a point shows its numbers.
	title := eval[string](t, ctx, fmt.Sprintf(`(point => { point.scrollIntoView({block: 'center'}); const r = `+
		`point.getBoundingClientRect(); return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).title })`+
		`(%s.node.querySelector('.nm-point'))`, cellJS(sweep)))
	assert.Regexp(t, `^GIN, 0\.3: \d\d\.\d\d \(\d\d\.\d\d to \d\d\.\d\d\), 3 trials$`, title)
	// A click opens the point's trials, and a button there runs one in a new cell, which finds it trained.
	click(t, ctx, fmt.Sprintf(`%s.node.querySelector('.nm-point')`, cellJS(sweep)))
	click(t, ctx, fmt.Sprintf(`%s.node.querySelector('details[open] button')`, cellJS(sweep)))
	until(t, ctx, outputJS(sweep+1)+`.includes('All trials (1) were run before.')`)
	until(t, ctx, outputJS(sweep+1)+`.includes('Macro F1 of seed 1 in percent')`)
	assert.Empty(t, complaints())
}
