package notebooktest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// play plays with the notebook of the playground, which is open.
func play(t *testing.T, ctx context.Context) {
	// Notebooks that were open before have outputs, too, and may be given the focus again.
	eval[bool](t, ctx, `(globalThis.playground = jupyterapp.shell.currentWidget, true)`)
	const here = "playground.node."
	find := func(what string) string { return fmt.Sprintf("[...%squerySelectorAll('%s')]", here, what) }
	const output = here + "querySelector('.jp-OutputArea')"
	// The cell goes on until it is closed, so this is not waited for.
	eval[bool](t, ctx, `(jupyterapp.commands.execute('notebook:run-all-cells'), true)`)

	until(t, ctx, find(".jp-OutputArea select")+`.length === 4 && `+find(".jp-OutputArea input[type=range]")+`.length === 2`)
	until(t, ctx, output+`?.innerText.includes('Choose, then press Train.')`)
	assert.Empty(t, eval[[]string](t, ctx,
		find(".jp-OutputArea :is(select, input[type=range])")+`.filter(e => !e.labels?.length).map(e => e.outerHTML)`), "controls without a label")
	eval[bool](t, ctx, `(() => { const s = `+find(".jp-OutputArea input[type=range]")+`[0]; s.value = 9; for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)); return true })()`)
	until(t, ctx, find(".jp-OutputArea output")+`.some(o => o.textContent === '0.9')`)

	press := func(label string) {
		eval[bool](t, ctx, `(`+find(".jp-OutputArea button")+`.find(b => b.textContent === '`+label+`').click(), true)`)
	}
	press("Train")
	until(t, ctx, output+`.innerText.includes('Done. Train again for another trial')`)
	until(t, ctx, find(".jp-OutputArea td, .jp-OutputArea th")+`.some(c => c.textContent === 'cora: GIN + NM, p = 0.9')`)
	until(t, ctx, find(".jp-OutputArea img")+`.some(i => i.complete && i.naturalWidth > 0 && i.alt)`)
	shoot(t, ctx, "playground", false)

	press("Train")
	until(t, ctx, output+`.innerText.includes('Compiling')`)
	press("Stop")
	until(t, ctx, output+`.innerText.includes('Stopped; this trial is not kept.')`)
	// gonb loses a click now and then: who sees nothing happen presses again.
	const closed = output + `.innerText.includes('Closed.')`
	for range 20 {
		press("Close")
		if soon(ctx, closed, 10*time.Second) {
			break
		}
	}
	until(t, ctx, closed)
	until(t, ctx, `playground.sessionContext.session.kernel.status === 'idle'`)
	assert.Empty(t, eval[[]string](t, ctx,
		find(`[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type="application/vnd.jupyter.error"]`)+`.map(e => e.textContent)`))
}
