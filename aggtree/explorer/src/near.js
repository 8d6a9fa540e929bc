// The graph round the root, found breadth first as in Go's drawing, and its layout.

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

// arrange places nodes of a width and height by forces: edges pull, nodes push, and none touches another. It begins with
// circles round the root, a hop each, and draws no random numbers, so that the same graph always looks the same. It
// returns how large the picture is.
export function arrange({nodes, edges}, width, height) {
  circles(nodes, width)
  const degree = new Map(nodes.map(n => [n, 0]))
  for (const {from, to} of edges) {
    degree.set(from, degree.get(from) + 1)
    degree.set(to, degree.get(to) + 1)
  }
  const rounds = 260
  for (let round = 0; round < rounds; round++) {
    const heat = 1 - round / rounds
    for (const {from, to} of edges) {
      const [dx, dy] = [to.x - from.x, to.y - from.y]
      const long = Math.hypot(dx, dy) || 1
      const pull = (0.5 * heat * (long - 55 - width / 2)) / long
      const share = degree.get(from) / (degree.get(from) + degree.get(to))
      to.x -= dx * pull * share
      to.y -= dy * pull * share
      from.x += dx * pull * (1 - share)
      from.y += dy * pull * (1 - share)
    }
    pairs(nodes, (a, b) => {
      const [dx, dy] = [b.x - a.x, b.y - a.y]
      const push = (260 * heat) / Math.max(dx * dx + dy * dy, 100)
      a.x -= dx * push
      a.y -= dy * push
      b.x += dx * push
      b.y += dy * push
    })
    for (const n of nodes) {
      n.x *= 1 - 0.05 * heat
      n.y *= 1 - 0.04 * heat
    }
    separate(nodes, width + 8, height + 10)
  }
  for (let round = 0; round < 400 && separate(nodes, width + 8, height + 10); round++);
  const low = {x: Math.min(...nodes.map(n => n.x)), y: Math.min(...nodes.map(n => n.y))}
  for (const n of nodes) {
    n.x += width / 2 + 6 - low.x
    n.y += height / 2 + 6 - low.y
  }
  return {width: Math.max(...nodes.map(n => n.x)) + width / 2 + 6, height: Math.max(...nodes.map(n => n.y)) + height / 2 + 6}
}

// circles gives each node the middle of the sector of those that were found from it.
function circles(nodes, width) {
  for (const n of nodes) n.leaves = n.taken = 0
  for (const n of nodes.slice(1).reverse()) {
    n.leaves = Math.max(n.leaves, 1)
    n.parent.leaves += n.leaves
  }
  Object.assign(nodes[0], {begin: 0.5, x: 0, y: 0})
  for (const n of nodes.slice(1)) {
    const share = (2 * Math.PI * n.leaves) / nodes[0].leaves
    n.begin = n.parent.begin + n.parent.taken
    n.parent.taken += share
    const angle = n.begin + share / 2
    n.x = n.level * (width + 30) * Math.sin(angle)
    n.y = -n.level * (width + 30) * Math.cos(angle)
  }
}

function pairs(nodes, act) {
  for (let i = 0; i < nodes.length; i++) for (let j = 0; j < i; j++) act(nodes[j], nodes[i])
}

// separate moves nodes apart that touch, the shorter way, and says whether there were any.
function separate(nodes, width, height) {
  let any = false
  pairs(nodes, (a, b) => {
    const [dx, dy] = [b.x - a.x, b.y - a.y]
    const [x, y] = [width - Math.abs(dx), height - Math.abs(dy)]
    if (x <= 0.01 || y <= 0.01) return
    any = true
    if (x < y) {
      const by = dx < 0 ? -x / 2 : x / 2
      a.x -= by
      b.x += by
    } else {
      const by = dy < 0 ? -y / 2 : y / 2
      a.y -= by
      b.y += by
    }
  })
  return any
}
