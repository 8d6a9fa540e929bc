// The legend: what of it occurs in the drawings.

import {shapes} from './marks.js'

const mostClasses = 14

const space = 'http://www.w3.org/2000/svg'

// entries are the classes of a sample's parts and its text.
function entries(panel) {
  const {state} = panel
  const drawn = new Set(state.shown().filter(n => n.base >= 0).map(n => n.base))
  for (const n of panel.graph.part.nodes) drawn.add(n.v)
  const all = []
  if (state.data.colours) {
    const classes = new Map()
    for (const v of drawn) if (state.data.colours[v] >= 0) classes.set(state.data.colours[v], v)
    const numbers = [...classes.keys()].sort((a, b) => a - b)
    for (const k of numbers.slice(0, mostClasses)) {
      const look = state.look(classes.get(k))
      all.push({names: `node f${look.fill} c${look.fill}`, shape: look.shape, text: state.className(classes.get(k))})
    }
    if (numbers.length > mostClasses) all.push({text: `${numbers.length - mostClasses} more classes`})
  }
  all.push({names: 'node root r0' + (state.data.colours ? '' : ' f0'), text: 'root'})
  if (state.rings.size > 1) all.push({names: 'node r1' + (state.data.colours ? '' : ' f1'), text: 'same ring: replicas of one node'})
  if (state.masked > 0) all.push({names: 'node ghost', text: 'masked'})
  if (state.shown().some(n => n.more > 0 && !n.cut)) all.push({names: 'node more', text: 'folded, with how many', more: true})
  return all
}

export function legend(list, panel) {
  list.textContent = ''
  for (const {names, shape, text, more} of entries(panel)) {
    const item = document.createElement('li')
    if (names) item.append(sample(names, shape, more))
    item.append(text)
    list.append(item)
  }
}

export function sample(names, shape, more) {
  const make = (tag, attributes) => {
    const element = document.createElementNS(space, tag)
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
    return element
  }
  const svg = make('svg', {width: 32, height: 18, viewBox: '-16 -9 32 18', 'aria-hidden': 'true'})
  const g = make('g', {class: names})
  const box = {x: -14, y: -7, width: 28, height: 14, rx: more ? 3 : 7}
  g.append(make('rect', {class: 'fill', ...box}), make('rect', {class: 'ring', ...box}))
  if (shape >= 0) g.append(make('path', {class: 'shape', d: shapes[shape]}))
  svg.append(g)
  return svg
}

export {entries}
