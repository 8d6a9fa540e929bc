package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/aggtree/internal/testgraph"
	"nodemask/csr"
	"nodemask/internal/browsertest"
)

// tab is a page with a fragment. In expressions $ is the first one.
type tab struct{ browsertest.Tab }

func open(t *testing.T, ctx context.Context, text string, before ...chromedp.Action) tab {
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return tab{browsertest.Open(t, ctx, file, 1300, before...).In(".nodemask-explorer")}
}

func (b tab) click(selector string, keys ...input.Modifier) {
	b.Helper()
	var at struct{ X, Y float64 }
	b.JS(fmt.Sprintf(`(e => { e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = `+
		`e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2} })(find(%q))`, selector), &at)
	b.Run(chromedp.MouseClickXY(at.X, at.Y, chromedp.ButtonModifiers(keys...)))
}

// shows compares the page's tree, node by node, and the exported one with Build's.
func (b tab) shows(g *csr.Graph, root int32, hops int, masked ...int32) {
	b.Helper()
	mask := make([]bool, g.NumNodes())
	for _, v := range masked {
		mask[v] = true
	}
	var got struct {
		Walks []string
		Tree  *plainTree
	}
	b.JS(`{walks: [...$.shadowRoot.querySelectorAll('.tree [data-walk]')].map(e => e.dataset.walk), tree: `+
		`$.nodemask.tree()}`, &got)
	var want []string
	for _, walk := range walksOf(b, g, root, hops, mask) {
		want = append(want, strings.ReplaceAll(strings.Trim(walk, "[]"), " ", "-"))
	}
	assert.ElementsMatch(b, want, got.Walks, "the walks that are drawn")
	tree, err := aggtree.Build(context.Background(), g, root, hops, aggtree.Options{Mask: mask})
	require.NoError(b, err)
	assert.Equal(b, plain(tree), got.Tree)
}

func pageOf(t *testing.T, g *csr.Graph, root int32, hops int, o Options) string {
	var b bytes.Buffer
	require.NoError(t, WritePage(&b, g, root, hops, o))
	return b.String()
}

func node(v int32) string { return fmt.Sprintf(`.graph [data-node="%d"]`, v) }

func walkTo(walk string) string { return fmt.Sprintf(`.tree [data-walk="%s"]`, walk) }

func TestTheInteractiveDrawingWorksInABrowser(t *testing.T) {
	chrome := browsertest.Start(t, 3*time.Minute)
	g, names := draw.PaperGraph()
	const a, b, c, d, f = 0, 1, 2, 3, 5

	t.Run("clicks choose the root and the mask, and the tree is Build's", func(t *testing.T) {
		p := open(t, chrome, pageOf(t, g, a, 2, Options{Names: names}))
		p.shows(g, a, 2)
		p.click(node(c))
		p.shows(g, c, 2)
		p.click(node(b), input.ModifierShift)
		p.shows(g, c, 2, b)
		p.Is("1 of 6 nodes masked", `find('.masked').textContent`)
		p.click(".unmask")
		p.click(walkTo("2-1"), input.ModifierShift)
		p.shows(g, c, 2, b)
		p.click(node(b), input.ModifierShift)
		p.shows(g, c, 2)
		p.click(".switch")
		p.click(node(c))
		p.shows(g, c, 2, c)
		p.Is(true, `find('.masked.root') !== null`)
	})

	t.Run("keys do what the mouse does", func(t *testing.T) {
		p := open(t, chrome, pageOf(t, g, a, 2, Options{Names: names}))
		p.Run(chromedp.Evaluate(`document.querySelector('.nodemask-explorer').shadowRoot.querySelector('.graph `+
			`.node[tabindex="0"]').focus()`, nil))
		p.Run(chromedp.KeyEvent("m"))
		p.shows(g, a, 2, a)
		p.Run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierShift)))
		p.shows(g, a, 2)
		p.Run(chromedp.KeyEvent(kb.Tab)) // from the graph, which is one stop, to the tree
		p.Is("0", `$.shadowRoot.activeElement.dataset.walk`)
		p.Run(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
		p.Is("0-3", `$.shadowRoot.activeElement.dataset.walk`)
		p.Run(chromedp.KeyEvent(kb.Enter))
		p.Is("false", `$.shadowRoot.activeElement.getAttribute('aria-expanded')`)
		p.Is(2, `$.nodemask.shown().find(n => n.more > 0).more`)
		p.Run(chromedp.KeyEvent(kb.Enter))
		p.shows(g, a, 2)
		p.Run(chromedp.KeyEvent("r"))
		p.shows(g, d, 2)
		p.Is(true, `find('[role=status]').textContent.startsWith('2-aggregation tree of d: 7 nodes; 1 at depth 0, 2 at `+
			`depth 1, 4 at depth 2.')`)
	})

	t.Run("epochs draw, play and pause, and the keep rate nests their masks", func(t *testing.T) {
		p := open(t, chrome, pageOf(t, g, a, 3, Options{Names: names, KeepRate: 0.5, Seed: 4}))
		p.click(".step")
		p.Is(1, `$.nodemask.epoch()`)
		var masked, fewer []int32
		p.JS(`$.nodemask.masked()`, &masked)
		p.shows(g, a, 3, masked...)
		p.JS(`(r => { r.value = 0.8; r.dispatchEvent(new Event('input')); return $.nodemask.masked() })(find('#rate'))`,
			&fewer)
		assert.Subset(t, masked, fewer)
		p.click(".play")
		p.Until(`$.nodemask.epoch() >= 3`)
		p.click(".play")
		p.Is(true, `find('.play').textContent.includes('Play')`)
		p.JS(`$.nodemask.masked()`, &masked)
		p.shows(g, a, 3, masked...)
	})

	t.Run("a large tree is folded, counted whole, and unfolds to the end", func(t *testing.T) {
		var edges [][2]int32
		for v := int32(1); v <= 40; v++ {
			edges = append(edges, [2]int32{0, v})
		}
		star := testgraph.Undirected(t, 41, edges)
		p := open(t, chrome, pageOf(t, star, 0, 2, Options{}))
		p.Is(map[string]any{"depth": []int{1, 40, 40}, "total": 81, "distinct": 41, "replicas": 41}, `$.nodemask.counts()`)
		p.Is("+58", `find('.more text').textContent`) // 29 leaves, and the root below each
		for more := true; more; p.JS(`find('.more') !== null`, &more) {
			p.click(".more")
		}
		p.shows(star, 0, 2)
		p.click(".refold")
		p.Is("+58", `find('.more text').textContent`)
		p.JS(`(r => { r.value = 1; r.dispatchEvent(new Event('input')); return $.nodemask.hops() })(find('#hops'))`, new(int))
		p.Is([]int{1, 40}, `$.nodemask.counts().depth`)
	})

	t.Run("a node and its walk light up in both drawings", func(t *testing.T) {
		p := open(t, chrome, pageOf(t, g, a, 2, Options{Names: names}))
		p.JS(`find('.tree [data-walk="0-1-0"]').dispatchEvent(new MouseEvent('mouseenter'))`, new(bool))
		p.Is([]string{"0", "0-1-0", "0-3-0"}, `[...$.shadowRoot.querySelectorAll('.tree .lit')].map(e => e.dataset.walk)`)
		p.Is([]string{"0"}, `[...$.shadowRoot.querySelectorAll('.graph .lit')].map(e => e.dataset.node)`)
		p.Is(2, `$.shadowRoot.querySelectorAll('.tree .link.walk').length`)
		p.Is("Walk a → b → a · 3 in the tree", `find('.detail').textContent`)
	})

	t.Run("the search takes names and numbers and says what it does not know", func(t *testing.T) {
		p := open(t, chrome, pageOf(t, g, a, 2, Options{Names: names}))
		search := func(text string) {
			p.JS(fmt.Sprintf(`(find('#root').value = %q, find('form').requestSubmit(), 0)`, text), new(int))
		}
		search("f")
		p.shows(g, f, 2)
		search("3")
		p.shows(g, d, 2)
		search("nobody")
		p.shows(g, d, 2)
		p.Is("No node nobody here: expected a node’s name or number", `find('#root-error').textContent`)
	})

	t.Run("two fragments on a page leave each other alone", func(t *testing.T) {
		p := open(t, chrome, "<!DOCTYPE html><body>"+writeHTML(t, g, a, 2, Options{Names: names})+writeHTML(t, g, b, 1,
			Options{Names: names, Title: "Second"}))
		p.click(node(c))
		p.shows(g, c, 2)
		p.Is([]int{1, 1}, `(e => [e.root(), e.hops()])(document.querySelectorAll('.nodemask-explorer')[1].nodemask)`)
	})

	t.Run("a fragment starts where scripts are copied into a page, as in JupyterLab, and follows its theme",
		func(t *testing.T) {
			p := open(t, chrome, "<!DOCTYPE html><body></body>")
			text, err := json.Marshal(writeHTML(t, g, a, 2, Options{Names: names}))
			require.NoError(t, err)
			p.Run(chromedp.Evaluate(`{
const host = document.createElement('div')
host.innerHTML = `+string(text)+`
for (const script of host.querySelectorAll('script')) {
  const copy = document.createElement('script')
  for (const {name, value} of script.attributes) copy.setAttribute(name, value)
  copy.textContent = script.textContent
  script.parentNode.replaceChild(copy, script)
}
document.body.setAttribute('data-jp-theme-light', 'true')
document.body.append(host)
0}`, nil))
			p.shows(g, a, 2)
			p.Is(false, `find('.explorer').classList.contains('dark')`)
			p.Run(chromedp.Evaluate(`document.body.setAttribute('data-jp-theme-light', 'false')`, nil))
			p.Until(`find('.explorer').classList.contains('dark')`)
			p.Is("true", `$.getAttribute('data-lm-suppress-shortcuts')`)
		})

	t.Run("without scripts the image of the tree is seen, with them it is not", func(t *testing.T) {
		text := pageOf(t, g, a, 2, Options{Names: names})
		p := open(t, chrome, text)
		p.Is(0, `$.querySelector('img').getClientRects().length`)
		p = open(t, chrome, text, emulation.SetScriptExecutionDisabled(true))
		p.Is(true, `$.shadowRoot === null && $.querySelector('img').naturalWidth > 200 && `+
			`$.querySelector('img').getClientRects().length === 1`)
	})

	t.Run("hostile names are text", func(t *testing.T) {
		p := open(t, chrome, pageOf(t, g, a, 2, Options{Names: hostile, Classes: hostile, Labels: []int32{0, 1, 2, 3, 4, 5},
			Title: hostile[0]}))
		p.shows(g, a, 2)
		p.Is(hostile[0], `document.title`)
		p.Is("2-aggregation tree of "+hostile[0], `find('#tree-head').textContent.trim()`)
	})

	t.Run("the saved SVG is well-formed and stands alone", func(t *testing.T) {
		p := open(t, chrome, pageOf(t, g, a, 2, Options{Names: hostile, Classes: hostile, Labels: []int32{0, 1, 2, 3, 4, 5},
			Mask: []bool{true, true, false, false, false, false}}))
		var text string
		p.JS(`$.nodemask.svg()`, &text)
		require.NoError(t, xml.Unmarshal([]byte(text), new(struct{})))
		assert.NotContains(t, text, "var(--")
		assert.NotContains(t, text, "tabindex")
	})

	t.Run("a phone's width is enough", func(t *testing.T) {
		p := open(t, chrome, pageOf(t, g, a, 5, Options{Names: names}), emulation.SetDeviceMetricsOverride(360, 740, 2, true))
		p.Is(360, `document.documentElement.scrollWidth`)
		p.Is(true, `find('.tree').getBoundingClientRect().top > find('.graph').getBoundingClientRect().bottom`)
	})
}
