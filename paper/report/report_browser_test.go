package report

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"nodemask/internal/browsertest"
)

func TestChaptersOfTheReportOpenByLinkAndOnPaper(t *testing.T) {
	all, err := Find()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "report.html")
	out, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, WriteReport(out, all, newEvidence(t, nil)))
	require.NoError(t, out.Close())
	b := browsertest.Open(t, browsertest.Start(t, 2*time.Minute), file, 390)
	var before, after struct{ Open, Folded, Height int }
	look := `(() => { const all = [...document.querySelectorAll('.chapter')]; return {Open: all.filter(c => c.open).length,
		Folded: all.filter(c => !c.open).length, Height: document.documentElement.scrollHeight} })()`
	b.Run(chromedp.Evaluate(look, &before))
	require.Zero(t, before.Open)
	require.Greater(t, before.Folded, len(all))
	require.Less(t, before.Height, 8000, "a phone shows the answer, and the chapters' names")

	link := fmt.Sprintf(`location.hash = '#%s'`, all[3].ID)
	b.Run(chromedp.Evaluate(link, nil), chromedp.Poll(look+`.Open === 1`, nil))
	var seen bool
	b.Run(chromedp.Evaluate(fmt.Sprintf(`(box => box.height > 50 && box.top >= 0 && box.top < innerHeight)(`+
		`document.getElementById(%q).getBoundingClientRect())`, all[3].ID), &seen))
	require.True(t, seen, "the chapter that the link names is on the screen")

	b.Run(chromedp.Evaluate(`dispatchEvent(new Event('beforeprint'))`, nil), chromedp.Evaluate(look, &after))
	require.Zero(t, after.Folded)
	b.Run(chromedp.Evaluate(`dispatchEvent(new Event('afterprint'))`, nil), chromedp.Evaluate(look, &after))
	require.Equal(t, 1, after.Open)
}
