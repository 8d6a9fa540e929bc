// The drawing of the graph round the root.

import {boxHeight, cut, dress, named, pill, smallest, tallest, widthOf} from './marks.js'
import {arrange, near} from './near.js'
import {View} from './view.js'

export class GraphView extends View {
  constructor(svg, state, act) {
    super(svg, state, act, n => n.v)
  }

  // render draws the graph, smaller where the room is narrow, but not so small that it cannot be read.
  render(room) {
    const {state} = this
    if (this.key !== state.key) {
      this.key = state.key
      this.part = near(state.g, state.root, Math.max(1, state.hops))
      this.place()
    }
    const {part, boxWidth} = this
    for (const n of part.nodes) n.mark = this.mark(n)
    const scale = Math.min(1, Math.max(smallest, Math.min(room / this.width, tallest / this.height)))
    this.svg.attr('width', Math.floor(this.width * scale)).attr('height', Math.ceil(this.height * scale))
      .attr('viewBox', `0 0 ${this.width} ${this.height}`)
    const root = part.nodes[0]
    this.centre = {x: root.x * scale, y: root.y * scale}
    this.links.selectAll('path').data(part.edges, e => e.key).join('path')
      .attr('class', e => (state.mask[e.from.v] || state.mask[e.to.v] ? 'link ghost' : 'link'))
      .attr('d', e => `M${round(e.from.x)},${round(e.from.y)}L${round(e.to.x)},${round(e.to.y)}`)
    this.nodes.selectAll('g').data(part.nodes, n => n.v).join(enter => this.enter(enter)).order()
      .call(dress, boxWidth)
      .attr('transform', n => `translate(${round(n.x)},${round(n.y)})`)
      .attr('data-node', n => (state.ids ? state.ids[n.v] : n.v))
      .attr('aria-label', n => named(n.mark))
    if (!part.nodes.some(n => n.v === this.focus)) this.focus = state.root
    this.rove()
  }

  // place lays the graph out, which does not depend on the mask.
  place() {
    const {state, part} = this
    this.more = part.more
    const shapes = part.nodes.some(n => state.look(n.v).shape >= 0)
    this.boxWidth = widthOf(part.nodes.map(n => cut(state.name(n.v))), shapes)
    const size = arrange(part, this.boxWidth, boxHeight)
    this.width = Math.ceil(size.width)
    this.height = Math.ceil(size.height)
  }

  mark(n) {
    const {state} = this
    const look = {...state.look(n.v)}
    const masked = state.mask[n.v] === 1
    const about = [`node ${state.name(n.v)}`]
    if (state.className(n.v)) about.push(state.className(n.v))
    if (look.root) about.push('root')
    if (masked) about.push('masked')
    if (masked && !look.root) Object.assign(look, {fill: look.shape >= 0 ? look.fill : -1, ring: -1})
    return {label: cut(state.name(n.v)), full: about.join(', '), look, ghost: masked && !look.root, more: false, masked}
  }

  enter(enter) {
    const {act} = this
    const choose = (event, n) => {
      this.focus = n.v
      if (act.masks(event)) act.mask(n.v)
      else act.root(n.v)
    }
    return pill(enter.append('g').attr('role', 'button'))
      .on('click', choose)
      .on('keydown', (event, n) => {
        const plain = !event.ctrlKey && !event.metaKey && !event.altKey
        if (event.key === 'Enter' || event.key === ' ') choose(event, n)
        else if (plain && event.key.toLowerCase() === 'm') act.mask(n.v)
        else if (plain && event.key.toLowerCase() === 'r') act.root(n.v)
        else if (event.key.startsWith('Arrow')) this.move(event.key, n)
        else if (event.key === 'Home') this.go(this.state.root)
        else return
        event.preventDefault()
      })
      .on('mouseenter', (_, n) => act.light(n.v, null))
      .on('mouseleave', () => act.light(-1, null))
      .on('focus', (_, n) => {
        this.focus = n.v
        this.rove()
        act.light(n.v, null)
      })
      .on('blur', () => act.light(-1, null))
  }

  // move goes to the node that lies nearest in the direction of an arrow.
  move(key, from) {
    const [dx, dy] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[key]
    let best = null
    for (const n of this.part.nodes) {
      const along = (n.x - from.x) * dx + (n.y - from.y) * dy
      const aside = Math.abs((n.x - from.x) * dy) + Math.abs((n.y - from.y) * dx)
      const far = along + 2 * aside
      if (along > 1 && (!best || far < best.far)) best = {v: n.v, far}
    }
    if (best) this.go(best.v)
  }

  // light shows a node, and the edges of a walk.
  light(base, node) {
    const walk = new Set()
    for (let n = node; n && n.parent; n = n.parent) walk.add(n.parent.base + '-' + n.base).add(n.base + '-' + n.parent.base)
    this.nodes.selectAll('g').classed('lit', n => n.v === base)
    this.links.selectAll('path').classed('walk', e => walk.has(e.key)).filter('.walk').raise()
  }
}

const round = x => Math.round(x * 10) / 10
