package notebooktest_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePlaygroundTrainsWhatItsSlidersSayAndStops(t *testing.T) {
	labPython(t)
	// Inside the project, since that is where the kernel looks for the module and for XLA.
	folder, err := os.MkdirTemp(filepath.Join(project, ".nodemask"), "browser-test.*")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	folder, err = filepath.Abs(folder)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "notebooks"), 0o755))
	data, err := os.ReadFile(filepath.Join(notebooks, "40-playground.ipynb"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notebooks", "40-playground.ipynb"), data, 0o644))
	t.Setenv("NODEMASK_LIVE", filepath.Join(folder, "live"))
	address, token := startLab(t, folder)
	ctx, complaints := openBrowser(t, address, strings.Replace(address, "http", "ws", 1))
	require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(1300, 1800),
		chromedp.Navigate(address+"/lab/tree/notebooks/40-playground.ipynb?token="+url.QueryEscape(token))))
	until(t, ctx, `globalThis.jupyterapp?.shell?.currentWidget?.sessionContext && document.querySelector('.jp-Notebook .jp-CodeCell')`)
	eval[any](t, ctx, `(async () => { const w = jupyterapp.shell.currentWidget; await w.context.ready; await w.sessionContext.ready; await w.sessionContext.session.kernel.info; })()`)
	// The cell goes on until it is closed, so this is not waited for.
	eval[bool](t, ctx, `(jupyterapp.commands.execute('notebook:run-all-cells'), true)`)

	until(t, ctx, `document.querySelectorAll('.jp-OutputArea select').length === 4 && document.querySelectorAll('.jp-OutputArea input[type=range]').length === 2`)
	until(t, ctx, `document.querySelector('.jp-OutputArea')?.innerText.includes('Choose, then press Train.')`)
	assert.Empty(t, eval[[]string](t, ctx, `[...document.querySelectorAll('.jp-OutputArea :is(select, input[type=range])')].filter(e => !e.labels?.length).map(e => e.outerHTML)`), "controls without a label")
	eval[bool](t, ctx, `(() => { const s = document.querySelector('.jp-OutputArea input[type=range]'); s.value = 9; for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)); return true })()`)
	until(t, ctx, `[...document.querySelectorAll('.jp-OutputArea output')].some(o => o.textContent === '0.9')`)

	press := func(label string) {
		eval[bool](t, ctx, `([...document.querySelectorAll('.jp-OutputArea button')].find(b => b.textContent === '`+label+`').click(), true)`)
	}
	press("Train")
	until(t, ctx, `document.querySelector('.jp-OutputArea').innerText.includes('Done. Train again for another trial')`)
	until(t, ctx, `[...document.querySelectorAll('.jp-OutputArea td, .jp-OutputArea th')].some(c => c.textContent === 'cora: GIN + NM, p = 0.9')`)
	until(t, ctx, `[...document.querySelectorAll('.jp-OutputArea img')].some(i => i.complete && i.naturalWidth > 0 && i.alt)`)
	shoot(t, ctx, "playground", false)

	press("Train")
	until(t, ctx, `document.querySelector('.jp-OutputArea').innerText.includes('Compiling')`)
	press("Stop")
	until(t, ctx, `document.querySelector('.jp-OutputArea').innerText.includes('Stopped; this trial is not kept.')`)
	press("Close")
	until(t, ctx, `document.querySelector('.jp-OutputArea').innerText.includes('Closed.')`)
	until(t, ctx, `jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'`)
	assert.Empty(t, eval[[]string](t, ctx, `[...document.querySelectorAll('[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type="application/vnd.jupyter.error"]')].map(e => e.textContent)`))
	assert.Empty(t, complaints())
}
