// The graph round the root, laid out as in Go's drawing: nodes of one hop on one circle, each in the middle of the sector
// of those that were found from it.

import {row} from './core.js'

export const mostNear = 60

export function near(g, root, hops) {
  const nodes = [{v: root, parent: null, level: 0}]
  const place = new Map([[root, nodes[0]]])
  const left = new Set()
  for (let i = 0; i < nodes.length && nodes[i].level < hops; i++) {
    for (const u of row(g, nodes[i].v)) {
      if (place.has(u)) continue
      if (nodes.length >= mostNear) {
        left.add(u)
        continue
      }
      const node = {v: u, parent: nodes[i], level: nodes[i].level + 1}
      place.set(u, node)
      nodes.push(node)
    }
  }
  const edges = []
  nodes.forEach((from, i) => {
    for (const u of row(g, from.v)) {
      const to = place.get(u)
      if (to && (i < nodes.indexOf(to) || !row(g, u).includes(from.v))) edges.push({key: from.v + '-' + u, from, to})
    }
  })
  return {nodes, edges, more: left.size}
}

// arrange places nodes of a width and height on circles just large enough, and returns how large the picture is.
export function arrange({nodes}, width, height) {
  for (const n of nodes) n.leaves = n.taken = 0
  for (const n of nodes.slice(1).reverse()) {
    n.leaves = Math.max(n.leaves, 1)
    n.parent.leaves += n.leaves
  }
  nodes[0].begin = nodes[0].x = nodes[0].y = 0
  for (const n of nodes.slice(1)) {
    const share = (2 * Math.PI * n.leaves) / nodes[0].leaves
    n.begin = n.parent.begin + n.parent.taken
    n.parent.taken += share
    n.angle = n.begin + share / 2
  }
  const clear = (first, end) => {
    for (let i = first; i < end; i++) {
      for (let j = 0; j < i; j++) {
        if (Math.abs(nodes[i].x - nodes[j].x) < width + 6 && Math.abs(nodes[i].y - nodes[j].y) < height + 6) return false
      }
    }
    return true
  }
  let radius = 0
  for (let first = 1; first < nodes.length; ) {
    let end = first
    while (end < nodes.length && nodes[end].level === nodes[first].level) end++
    for (radius += height + 28; ; radius += 6) {
      for (const n of nodes.slice(first, end)) {
        n.x = radius * Math.sin(n.angle)
        n.y = -radius * Math.cos(n.angle)
      }
      if (radius > 4000 || clear(first, end)) break
    }
    first = end
  }
  const low = {x: Math.min(...nodes.map(n => n.x)), y: Math.min(...nodes.map(n => n.y))}
  for (const n of nodes) {
    n.x += width / 2 + 4 - low.x
    n.y += height / 2 + 4 - low.y
  }
  return {width: Math.max(...nodes.map(n => n.x)) + width / 2 + 4, height: Math.max(...nodes.map(n => n.y)) + height / 2 + 4}
}
