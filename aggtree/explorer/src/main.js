// Starts the fragment that this script stands in. Where there is no page, as in Go's tests, it hands out its computing
// part instead.

import * as core from './core.js'
import {drawing, toggle, walk} from './fold.js'
import {State} from './state.js'
import {Panel} from './panel.js'
import {exported} from './export.js'
import drawingStyle from './drawing.css'
import pageStyle from './page.css'

const name = 'nodemask-explorer'

// start draws in an element what it embeds, or the data that are given. live: epochs come from a training that runs elsewhere,
// through setMask and setColours.
export function start(host, data, {live = false} = {}) {
  if (host.nodemask) return
  const state = new State(data || JSON.parse(host.querySelector('script[type="application/json"]').textContent))
  // The shadow hides the image for pages without scripts, and keeps the page's styles and ids apart from ours.
  const shadow = host.attachShadow({mode: 'open'})
  try {
    const style = document.createElement('style')
    style.textContent = pageStyle + drawingStyle
    shadow.append(style)
    const panel = new Panel(host, shadow, state, live)
    theme(host, panel.section)
    panel.render()
    if (window.ResizeObserver) {
      let width = host.clientWidth
      new ResizeObserver(() => {
        if (host.clientWidth === width) return
        width = host.clientWidth
        requestAnimationFrame(() => panel.render())
      }).observe(host)
    }
    // Keys are for the nodes, not for the notebook round them.
    host.setAttribute('data-lm-suppress-shortcuts', 'true')
    host.addEventListener('keydown', event => event.stopPropagation())
    host.nodemask = hook(state, panel)
  } catch (error) {
    shadow.replaceChildren(document.createElement('slot'))
    throw error
  }
}

// hook is what programs may ask an element: explorer.WriteFragment describes it.
function hook(state, panel) {
  const number = v => (state.ids ? state.ids[v] : v)
  const change = act => (...values) => panel.change(() => act(...values))
  return {
    root: () => number(state.root),
    hops: () => state.hops,
    epoch: () => state.epoch,
    masked: () => [...state.mask.keys()].filter(v => state.mask[v]).map(number),
    counts: () => ({depth: state.counts.depth, total: state.counts.total, distinct: state.counts.distinct, replicas: state.counts.replicas}),
    tree: () => state.built(),
    shown: () => state.shown().map(n => ({walk: n.base < 0 ? null : state.walkOf(n).map(number), more: n.more, ghost: n.ghost})),
    svg: () => exported(panel),
    setRoot: change(id => {
      const v = state.inPage(id)
      if (v < 0) throw new RangeError(`nodemask: this page does not hold node ${id}`)
      state.setRoot(v)
    }),
    setHops: change(hops => state.setHops(hops)),
    setEpoch: change(epoch => state.setEpoch(epoch)),
    setMask: change((ids, epoch) => state.setMask(ids, epoch)),
    setColours: change(numbers => state.setColours(numbers)),
  }
}

// theme follows JupyterLab's, where there is one, and otherwise the reader's.
function theme(host, section) {
  const dark = window.matchMedia('(prefers-color-scheme: dark)')
  const follow = () => {
    const lab = document.body.getAttribute('data-jp-theme-light')
    section.classList.toggle('dark', lab === null ? dark.matches : lab === 'false')
  }
  follow()
  dark.addEventListener('change', follow)
  new MutationObserver(follow).observe(document.body, {attributes: true, attributeFilter: ['data-jp-theme-light']})
}

if (typeof document === 'undefined') {
  globalThis.nodemaskExplorer = {...core, drawing, toggle, walk, State}
} else {
  const own = document.currentScript && document.currentScript.closest('.' + name)
  for (const host of own ? [own] : document.querySelectorAll('.' + name)) start(host)
}
