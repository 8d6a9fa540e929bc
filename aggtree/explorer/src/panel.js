// One fragment: its controls, and the two drawings between them.

import {GraphView} from './graphview.js'
import {TreeView} from './treeview.js'
import {exported} from './export.js'
import {legend} from './legend.js'
import {grouped} from './marks.js'
import template from './panel.html'

// Milliseconds from one epoch to the next.
const tempo = 1100

// Widths, in pixels, below which the drawings stand one above the other.
const narrowest = 720

export class Panel {
  constructor(host, shadow, state, live) {
    this.host = host
    this.state = state
    const holder = document.createElement('template')
    holder.innerHTML = template
    shadow.append(holder.content)
    const find = selector => shadow.querySelector(selector)
    this.shadow = shadow
    this.find = find
    this.section = find('.explorer')
    this.section.classList.toggle('live', live)
    this.maskMode = false
    this.timer = 0
    this.lit = {base: -1, node: null}
    const act = {
      masks: event => event.shiftKey || this.maskMode,
      mask: v => this.change(() => state.toggleMask(v)),
      root: v => this.change(() => state.setRoot(v)),
      toggle: node => this.toggle(node),
      light: (base, node) => this.light(base, node),
    }
    this.graph = new GraphView(find('.graph svg'), state, act)
    this.tree = new TreeView(find('.tree svg'), state, act)
    this.listen()
    if (state.data.title) find('.title').textContent = state.data.title
    else find('.title').remove()
    this.section.setAttribute('aria-label', state.data.title || 'Aggregation trees')
  }

  listen() {
    const {state, find} = this
    const on = (selector, event, act) => find(selector).addEventListener(event, act)
    on('form', 'submit', event => {
      event.preventDefault()
      this.enterRoot(find('#root').value)
    })
    find('#hops').max = state.mostHops
    on('#hops', 'input', () => this.change(() => state.setHops(Number(find('#hops').value))))
    on('#rate', 'input', () => this.change(() => state.setKeepRate(Number(find('#rate').value))))
    on('.switch', 'click', () => {
      this.maskMode = !this.maskMode
      find('.switch').setAttribute('aria-checked', this.maskMode)
    })
    on('.unmask', 'click', () => {
      this.pause()
      this.change(() => state.unmaskAll())
    })
    on('.refold', 'click', () => this.change(() => state.refold()))
    on('.play', 'click', () => (this.timer ? this.pause() : this.play()))
    on('.step', 'click', () => {
      this.pause()
      this.change(() => state.setEpoch(state.epoch + 1))
    })
    on('.save', 'click', () => this.save())
  }

  enterRoot(text) {
    const {state, find} = this
    const v = state.find(text)
    const known = state.data.names ? 'a node’s name or number' : state.ids ? 'one of the nodes that this page holds' : `0 to ${state.g.nodes - 1}`
    find('#root-error').textContent = v < 0 ? `No node ${text.trim() || '(nothing)'} here: expected ${known}` : ''
    find('#root').setAttribute('aria-invalid', v < 0)
    if (v >= 0) this.change(() => state.setRoot(v))
  }

  play() {
    const {state} = this
    const next = () => {
      if (!this.host.isConnected) return this.pause()
      this.change(() => state.setEpoch(state.epoch + 1))
    }
    this.timer = setInterval(next, tempo)
    this.find('.play').textContent = '❚❚ Pause'
    next()
  }

  pause() {
    if (!this.timer) return
    clearInterval(this.timer)
    this.timer = 0
    this.find('.play').textContent = '▶ Play'
    this.say()
  }

  toggle(node) {
    this.change(() => this.state.toggle(node))
  }

  // change does something to the state and shows it. A focused node that is no longer drawn hands the focus to what it
  // was folded into: its nearest ancestor.
  change(act) {
    const active = this.shadow.activeElement
    let held = active && active.closest('.tree .node') ? active.__data__ : null
    const rootHeld = active && active.closest('.graph .node')
    act()
    this.render()
    if (held) {
      const keys = new Set(this.state.shown().map(n => n.key))
      while (held && !keys.has(held.key)) held = held.parent
      const to = held ? held.key : this.state.tree.key
      if (!active.isConnected || to !== active.__data__.key) this.tree.go(to)
    }
    if (rootHeld && !active.isConnected) this.graph.go(this.state.root)
    this.host.dispatchEvent(new CustomEvent('nodemask:change', {bubbles: true}))
  }

  render() {
    const {state, find} = this
    const width = this.host.clientWidth || 900
    this.section.classList.toggle('narrow', width < narrowest)
    const inner = selector => Math.max(200, (find(selector).clientWidth || 500) - 14)
    this.graph.render(inner('.graph .scroll'))
    this.tree.render(inner('.tree .scroll'))
    const where = state.key + ' ' + width
    if (this.where !== where) {
      this.where = where
      this.centre()
    }
    const root = state.name(state.root)
    if (this.shadow.activeElement !== find('#root') || find('#root').getAttribute('aria-invalid') !== 'true') find('#root').value = root
    find('#root-error').textContent = ''
    find('#root').setAttribute('aria-invalid', 'false')
    find('#hops').value = find('#hops-now').value = state.hops
    find('#rate').value = state.keepRate
    find('#rate-now').value = Number(state.keepRate.toFixed(2))
    find('.epoch').value = state.epoch
    find('.unmask').disabled = state.masked === 0 && state.epoch === 0
    find('.refold').disabled = state.open.size === 0
    find('.masked').textContent = this.maskedOf()
    this.heads(root)
    this.table()
    const counts = find('.counts')
    if (counts.scrollWidth > counts.clientWidth) counts.tabIndex = 0 // so that keys can scroll it
    else counts.removeAttribute('tabindex')
    legend(find('.legend'), this)
    this.notes()
    this.relight()
    this.say()
  }

  heads(root) {
    const head = (selector, text, small) => {
      const p = this.find(selector)
      p.textContent = text + ' '
      if (small) p.append(Object.assign(document.createElement('small'), {textContent: small}))
    }
    const {state} = this
    const hops = Math.max(1, state.hops)
    head('#graph-head', `Graph, ${hops} ${hops === 1 ? 'hop' : 'hops'} round ${root}`, this.graph.more ? `${grouped(this.graph.more)} more nodes not drawn` : '')
    const real = state.shown().filter(n => !n.more && !n.ghost).length
    const all = state.counts.total
    head('#tree-head', `${state.hops}-aggregation tree of ${root}`, real < all ? `${grouped(real)} of ${grouped(all)} nodes drawn` : '')
  }

  // centre scrolls both drawings to the root.
  centre() {
    const graph = this.find('.graph .scroll')
    graph.scrollTo({left: this.graph.centre.x - graph.clientWidth / 2, top: this.graph.centre.y - graph.clientHeight / 2})
    const tree = this.find('.tree .scroll')
    const top = this.state.tree
    tree.scrollTo({left: this.tree.down ? top.x * this.tree.scale - tree.clientWidth / 2 : 0, top: this.tree.down ? 0 : top.y * this.tree.scale - tree.clientHeight / 2})
  }

  table() {
    const {state} = this
    const heads = state.counts.depth.map((_, d) => 'Depth ' + d).concat('In all', 'Distinct', 'Of the root')
    const cells = state.counts.depth.concat(state.counts.total, state.counts.distinct, state.counts.replicas)
    const fill = (selector, first, texts, tag) => {
      const at = this.find(selector)
      at.textContent = ''
      const add = (tag, text, scope, name) => {
        const cell = document.createElement(tag)
        cell.textContent = text
        if (scope) cell.scope = scope
        if (name) cell.className = name
        at.append(cell)
      }
      add('th', first, first === 'Tree nodes' ? 'row' : 'col')
      texts.forEach((text, i) => add(tag, text, tag === 'th' ? 'col' : '', i === state.counts.depth.length ? 'sum' : ''))
    }
    fill('thead tr', '', heads, 'th')
    this.find('thead th').replaceWith(document.createElement('td'))
    fill('tbody tr', 'Tree nodes', cells.map((n, i) => (state.counts.cut && i > 0 ? '≥ ' : '') + grouped(n)), 'td')
  }

  notes() {
    const {state} = this
    const notes = []
    if (state.ids) notes.push(`This page holds ${grouped(state.g.nodes)} of the graph’s ${grouped(state.data.allNodes)} nodes, those round node ${state.name(state.data.root)}, and all neighbours of ${grouped(state.data.complete)} of them.`)
    if (state.counts.cut > 0) notes.push(`This tree is not whole: it ends early at ${grouped(state.counts.cut)} nodes whose neighbours the page does not hold.`)
    this.find('.note').textContent = notes.join(' ')
  }

  // sizes and rest are the counts in words.
  sizes() {
    const {state} = this
    const {depth, total, cut} = state.counts
    return `${state.hops}-aggregation tree of ${state.name(state.root)}: ${cut ? 'at least ' : ''}${grouped(total)} nodes; ${depth.map((n, d) => `${grouped(n)} at depth ${d}`).join(', ')}.`
  }

  rest() {
    const {state} = this
    const {distinct, replicas} = state.counts
    return `${grouped(distinct)} distinct, ${grouped(replicas)} of the root. Epoch ${state.epoch}, ${this.maskedOf()}.`
  }

  maskedOf() {
    const {masked, maskable, data} = this.state
    return `${grouped(masked)} of ${grouped(maskable)} ${data.train ? 'train nodes' : 'nodes'} masked`
  }

  // say tells a screen reader the counts, but not while epochs play: it would never end.
  say() {
    if (this.timer) return
    const status = this.find('.quiet')
    const text = this.sizes() + ' ' + this.rest()
    if (status.textContent !== text) status.textContent = text
  }

  // relight shows again what was lit, as far as it is still drawn.
  relight() {
    const {base, node} = this.lit
    this.light(base, node && (this.state.shown().find(n => n.key === node.key) || null))
  }

  light(base, node) {
    const {state} = this
    this.lit = {base, node}
    this.tree.light(base, node)
    this.graph.light(base, node)
    const parts = []
    if (node && node.more) parts.push(node.mark.full)
    else if (base >= 0) {
      if (node && node.parent) parts.push('Walk ' + state.walkOf(node).map(v => state.name(v)).join(' → '))
      else parts.push(`Node ${state.name(base)}`)
      if (state.className(base)) parts.push(state.className(base))
      parts.push(`${grouped(state.counts.times[base])} in the tree`)
      if (state.mask[base]) parts.push('masked')
    }
    this.find('.detail').textContent = parts.join(' · ') || 'Point at a node to see its replicas and its walk from the root.'
  }

  save() {
    const url = URL.createObjectURL(new Blob([exported(this)], {type: 'image/svg+xml'}))
    const {state} = this
    const link = Object.assign(document.createElement('a'), {href: url, download: `tree-${state.name(state.root).replace(/[^\w-]+/g, '_')}-${state.hops}.svg`})
    link.click()
    setTimeout(() => URL.revokeObjectURL(url), 10000)
  }
}
