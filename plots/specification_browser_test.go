package plots_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"nodemask/internal/browsertest"
)

func TestSpecificationCurvesTakePointerAndKeys(t *testing.T) {
	s := readings([]float64{3, -3, 1, 2}, []float64{2, -4, -1, 1}, []float64{4, -2, 3, 3})
	s.Title, s.MarkName, s.Readings[0].Marked, s.Readings[0].Text = "Curve", "calibrated", true, "near the paper"
	piece, err := s.HTML()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte("<!DOCTYPE html><meta charset=\"utf-8\"><body>"+piece+piece), 0o644))
	tab := browsertest.Open(t, browsertest.Start(t, 2*time.Minute), file, 1300).In(".nodemask-specification")
	run, is := tab.Run, tab.Is
	const label = `find('.option[data-option="1"]')`
	is(true, `[...document.querySelectorAll('.nodemask-specification')].every(h => h.nodemask)`)
	is("4 readings: median +1.50, 75 % above 0", `find('.count').textContent`)
	is(true, `find('.card').hidden`)
	is(2, `document.querySelectorAll('.nodemask-specification').length`)

	is(1284, `+find('svg').getBoundingClientRect().width`)
	is(true, `find('.median').getBoundingClientRect().right < 1284`)
	const sideways = `[...$.shadowRoot.querySelectorAll('.hint')].filter(p => !p.hidden && ` +
		`p.textContent.includes('sideways')).length`
	is(0, sideways)
	run(chromedp.EmulateViewport(390, 800))
	tab.Until(sideways + " === 1")
	run(chromedp.EmulateViewport(1300, 900))
	tab.Until(sideways + " === 0")

	// The third of four readings is in the middle of the third quarter of the plot.
	var box []float64
	tab.JS(`(b => [b.left, b.top, b.width, b.height])(find('.plot').getBoundingClientRect())`, &box)
	run(input.DispatchMouseEvent(input.MouseMoved, box[0]+box[2]*5/8, box[1]+20))
	is("+2.00 [1.00, 3.00], interval above 0. stop: F1.", `$.nodemask.words()`)
	is("+2.00 [1.00, 3.00]reading 3 of 4stopF1", `find('.card').textContent`)

	is(nil, `find('.plot').focus()`)
	run(chromedp.KeyEvent(kb.ArrowRight))
	is("Reading 4 of 4: +3.00 [2.00, 4.00], interval above 0, calibrated, near the paper. stop: loss.",
		`find('.plot').getAttribute('aria-valuetext')`)
	run(chromedp.KeyEvent(kb.Home))
	is("Reading 1 of 4: −3.00 [−4.00, −2.00], interval below 0. stop: F1.",
		`find('.plot').getAttribute('aria-valuetext')`)
	run(chromedp.KeyEvent(kb.Escape))
	is("", `$.nodemask.words()`)

	is(nil, label+`.dispatchEvent(new MouseEvent('click', {bubbles: true})), `+label+`.focus()`)
	is("2 of 4 readings: median −0.50, 50 % above 0", `find('.count').textContent`)
	is("true", label+`.getAttribute('aria-pressed')`)
	is([]int{0, 2}, `$.nodemask.shown()`)
	is("–", `find('.median[data-option="0"]').textContent`)
	is("interval above 0: 1", `find('.legend').textContent`)
	is(2, `$.shadowRoot.querySelectorAll('.reading.out').length`)
	run(chromedp.KeyEvent(kb.Enter))
	is(true, `[...document.querySelectorAll('.nodemask-specification')].every(h => h.nodemask)`)
	is("4 readings: median +1.50, 75 % above 0", `find('.count').textContent`)
	is("false", label+`.getAttribute('aria-pressed')`)

	run(chromedp.EmulateViewport(800, 900))
	tab.Until(`find('svg').getBoundingClientRect().width < 800`)
	is(true, `find('.scroll').scrollWidth <= find('.scroll').clientWidth`)
	is(true, `[...document.querySelectorAll('.nodemask-specification')].every(h => h.nodemask)`)
	is("4 readings: median +1.50, 75 % above 0", `find('.count').textContent`)
}
