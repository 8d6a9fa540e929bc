// The drawing of the tree.

import {hierarchy, tree as tidy} from 'd3-hierarchy'
import {drawing} from './fold.js'
import {boxHeight, cut, dress, grouped, named, pill, short, smallest, tallest, widthOf} from './marks.js'
import {View} from './view.js'

const nobody = {fill: -1, shape: -1, ring: -1, style: 0, root: false}
const margin = 8

export class TreeView extends View {
  constructor(svg, state, act) {
    super(svg, state, act, n => n.key)
  }

  // render draws the tree into a room so wide: from the top down if all of the unmasked tree fits, so that it does not
  // turn from epoch to epoch, otherwise from left to right.
  render(room) {
    const {state} = this
    const whole = state.masked === 0 ? state.tree : drawing({...state, mask: new Uint8Array(state.g.nodes)}, state.open)
    const shown = state.shown()
    for (const n of shown) n.mark = this.mark(n)
    const labels = shown.map(n => n.mark.label)
    const withShapes = shown.some(n => n.mark.look.shape >= 0)
    const width = widthOf(labels, withShapes)
    const down = (n) => tidy().nodeSize([width + 10, 66]).separation(apart)(hierarchy(n))
    this.down = extent(down(whole), 'x').size + width + 2 * margin <= room && extent(down(state.tree), 'x').size + width + 2 * margin <= room
    const level = room < 500 ? width + 26 : width + 56
    const laid = this.down ? down(state.tree) : tidy().nodeSize([boxHeight + 5, level]).separation(apart)(hierarchy(state.tree))
    const points = laid.descendants()
    const [across, along] = [extent(laid, 'x'), extent(laid, 'y')]
    for (const p of points) {
      const [x, y] = this.down ? [p.x - across.low, p.y] : [p.y, p.x - across.low]
      p.data.x = x + width / 2 + margin
      p.data.y = y + boxHeight / 2 + margin
    }
    const size = this.down ? [across.size, along.size] : [along.size, across.size]
    this.width = Math.ceil(size[0] + width + 2 * margin)
    this.height = Math.ceil(size[1] + boxHeight + 2 * margin)
    this.scale = Math.min(1, Math.max(smallest, Math.min(room / this.width, tallest / this.height)))
    this.svg.attr('width', Math.ceil(this.width * this.scale)).attr('height', Math.ceil(this.height * this.scale)).attr('viewBox', `0 0 ${this.width} ${this.height}`)
      .attr('aria-label', `The ${state.hops}-aggregation tree of ${state.name(state.root)}`)
      .attr('aria-orientation', this.down ? 'horizontal' : 'vertical')

    this.links.selectAll('path').data(shown.slice(1), n => n.key).join('path')
      .attr('class', n => (n.ghost ? 'link ghost' : 'link'))
      .attr('d', n => this.curve(n, width))
    this.nodes.selectAll('g').data(shown, n => n.key).join(enter => this.enter(enter)).order()
      .call(dress, width)
      .attr('transform', n => `translate(${round(n.x)},${round(n.y)})`)
      .attr('data-walk', n => (n.more || n.ghost ? null : state.walkOf(n).map(v => (state.ids ? state.ids[v] : v)).join('-')))
      .attr('aria-label', n => named(n.mark))
      .attr('aria-level', n => n.depth + 1)
      .attr('aria-posinset', n => (n.parent ? n.parent.children.indexOf(n) + 1 : 1))
      .attr('aria-setsize', n => (n.parent ? n.parent.children.length : 1))
      .attr('aria-expanded', n => (n.children.length === 0 ? null : n.children.some(c => c.more === 0)))
    if (!shown.some(n => n.key === this.focus)) this.focus = state.tree.key
    this.rove()
  }

  enter(enter) {
    const {act} = this
    return pill(enter.append('g').attr('role', 'treeitem'))
      .on('click', (event, n) => {
        this.focus = n.key
        this.choose(event, n)
      })
      .on('keydown', (event, n) => this.key(event, n))
      .on('mouseenter', (_, n) => act.light(n.base, n))
      .on('mouseleave', () => act.light(-1, null))
      .on('focus', (_, n) => {
        this.focus = n.key
        this.rove()
        act.light(n.base, n)
      })
      .on('blur', () => act.light(-1, null))
  }

  // choose masks a node, or folds and unfolds what is below it.
  choose(event, n) {
    const {act} = this
    if (n.base >= 0 && act.masks(event)) act.mask(n.base)
    else act.toggle(n)
  }

  mark(n) {
    const {state} = this
    if (n.cut) return {label: '…', full: `neighbours of ${state.name(n.parent.base)} that this page does not hold`, look: nobody, ghost: false, more: true}
    if (n.more > 0) {
      const of = state.name(n.parent.base)
      const full = n.ghost ? `${grouped(n.more)} more masked neighbours of ${of}; Enter shows some`
        : `${grouped(n.more)} ${n.more === 1 ? 'node' : 'nodes'} below ${of}, folded; Enter unfolds`
      return {label: '+' + short(n.more), full, look: nobody, ghost: n.ghost, more: true}
    }
    const look = {...state.look(n.base)}
    const about = [`node ${state.name(n.base)}`]
    if (state.className(n.base)) about.push(state.className(n.base))
    if (n.ghost) about.push('masked: in no child set')
    else if (!n.parent) about.push(state.mask[n.base] ? 'root, masked' : 'root')
    else if (look.root) about.push('replica of the root')
    about.push(`depth ${n.depth}`)
    if (n.ghost) Object.assign(look, {fill: look.shape >= 0 ? look.fill : -1, ring: -1, root: false})
    return {label: cut(state.name(n.base)), full: about.join(', '), look, ghost: n.ghost, more: false, masked: !n.parent && state.mask[n.base] === 1}
  }

  curve(n, width) {
    const [a, b] = [n.parent, n]
    if (this.down) {
      const [y1, y2] = [a.y + boxHeight / 2, b.y - boxHeight / 2]
      const middle = round((y1 + y2) / 2)
      return `M${round(a.x)},${round(y1)}C${round(a.x)},${middle} ${round(b.x)},${middle} ${round(b.x)},${round(y2)}`
    }
    const [x1, x2] = [a.x + width / 2, b.x - width / 2]
    const middle = round((x1 + x2) / 2)
    return `M${round(x1)},${round(a.y)}C${middle},${round(a.y)} ${middle},${round(b.y)} ${round(x2)},${round(b.y)}`
  }

  // key moves where the arrow points, and does what the letters say.
  key(event, n) {
    const {state, act} = this
    const level = () => state.shown().filter(m => m.depth === n.depth)
    const beside = by => {
      const all = level()
      return all[all.indexOf(n) + by]
    }
    const [up, deeper, before, after] = this.down ? ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'] : ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']
    let to
    switch (event.key) {
      case up: to = n.parent; break
      case deeper: to = n.children[0]; break
      case before: to = beside(-1); break
      case after: to = beside(1); break
      case 'Home': to = state.tree; break
      case 'End': to = state.shown().pop(); break
      case 'Enter':
      case ' ':
        this.choose(event, n)
        break
      case 'r': case 'R':
        if (event.ctrlKey || event.metaKey || event.altKey || n.base < 0) return
        act.root(n.base)
        break
      case 'm': case 'M':
        if (event.ctrlKey || event.metaKey || event.altKey || n.base < 0) return
        act.mask(n.base)
        break
      default: return
    }
    event.preventDefault()
    if (to) this.go(to.key)
  }

  // light shows the replicas of a base, and the walk to a node.
  light(base, node) {
    const walk = new Set()
    for (let n = node; n; n = n.parent) walk.add(n.key)
    this.nodes.selectAll('g').classed('lit', n => base >= 0 && n.base === base).classed('walk', n => walk.has(n.key))
    this.links.selectAll('path').classed('walk', n => walk.has(n.key)).filter('.walk').raise()
  }
}

const apart = (a, b) => (a.parent === b.parent ? 1 : 1.2)
const round = x => Math.round(x * 10) / 10

function extent(root, key) {
  let [low, high] = [Infinity, -Infinity]
  root.each(n => {
    low = Math.min(low, n[key])
    high = Math.max(high, n[key])
  })
  return {low, size: high - low}
}
