package notebooktest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePlaygroundInJupyterLab(t *testing.T) {
	ctx, complaints := openLab(t, map[string]string{"40-playground.ipynb": notebooks + "/40-playground.ipynb"})
	show(t, ctx, "40-playground.ipynb")
	const output = "jupyterapp.shell.currentWidget.node.querySelector('.jp-OutputArea')"
	find := func(what string) string { return "[..." + output + ".querySelectorAll('" + what + "')]" }
	press := func(label string) string {
		return find("button") + ".find(b => b.textContent === '" + label + "').click()"
	}
	says := func(text string) string { return output + "?.innerText.includes('" + text + "')" }
	drag := "(s => { s.value = 9; for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)) })(" +
		find("input[type=range]") + "[0])"
	steps := []struct{ do, until string }{
		// The cell runs until closed, so do not wait for it.
		{"jupyterapp.commands.execute('notebook:run-all-cells')", says("Choose, then press Train.")},
		{"0", find("select") + ".length === 4 && " + find("input[type=range]") + ".length === 2"},
		{"0", find(":is(select, input[type=range])") + ".every(e => e.labels?.length)"},
		{drag, find("output") + ".some(o => o.textContent === '0.9')"},
		{press("Train"), says("Done. Train again for another trial")},
		{"0", find("td, th") + ".some(c => c.textContent === 'cora: GIN + NM, p = 0.9')"},
		{"0", find("img") + ".some(i => i.complete && i.naturalWidth > 0 && i.alt)"},
		{press("Train"), says("Compiling")},
		{press("Stop"), says("Stopped; this trial is not kept.")},
		{press("Close"), says("Closed.")},
		{"0", "jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"},
	}
	// gonb reconnects if an answer takes over half a second, and earlier output is then dead: users run the cell again.
	failed := "never tried"
	for attempt := 0; attempt < 4 && failed != ""; attempt++ {
		failed = ""
		for _, step := range steps {
			eval[bool](t, ctx, "("+step.do+", true)")
			if !soon(ctx, step.until, time.Minute) {
				failed = fmt.Sprintf("after %s this has not come true in a minute: %s", step.do, step.until)
				t.Log(failed)
				shoot(t, ctx, "failed", false)
				const kernel = "jupyterapp.shell.currentWidget.sessionContext.session.kernel"
				eval[bool](t, ctx, kernel+".interrupt().then(() => true)")
				until(t, ctx, kernel+".status === 'idle'")
				break
			}
		}
	}
	require.Empty(t, failed)
	shoot(t, ctx, "playground", false)
	assert.Empty(t, eval[[]string](t, ctx, errorsShown))
	for _, c := range complaints() {
		// gonb's message for a slow connection.
		assert.True(t, strings.Contains(c, "gonb_comm") || strings.Contains(c, "comm_open_ack") ||
			strings.Contains(c, "GoNB not setup"), c)
	}
}
