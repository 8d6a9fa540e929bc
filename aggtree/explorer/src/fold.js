// What is drawn of a tree. Nothing is built that is not drawn: the children of a tree node follow from its base, and the
// size of what is folded from lemma 1, so that trees of any size can be drawn in part.

import {row} from './core.js'

export const mostChildren = 12
export const mostNodes = 90

// Drawing is a tree to draw: g, root, hops, mask, sizes as in core.js; open has, for walks that the reader folded or
// unfolded, how many children to draw.
export function drawing(tree, open) {
  const root = {key: String(tree.root), base: tree.root, depth: 0, parent: null, more: 0, ghost: false, children: []}
  let level = [root]
  let drawn = 1
  for (let d = 0; d < tree.hops && level.length > 0; d++) {
    // As many children a node as there is room for, along with one below each: what the reader unfolded comes on top.
    let most = mostChildren
    for (; most > 0; most--) {
      let room = mostNodes - drawn
      for (const node of level) {
        if (open.has(node.key)) continue
        for (const child of children(tree, node, most)) room -= below(tree, child) ? 2 : 1
        if (room < 0) break
      }
      if (room >= 0) break
    }
    const next = []
    for (const node of level) {
      const mine = open.get(node.key)
      node.children = children(tree, node, mine === undefined ? most : mine)
      if (mine === undefined) drawn += node.children.length
      for (const child of node.children) if (child.more === 0 && !child.ghost) next.push(child)
    }
    level = next
  }
  return root
}

const below = (tree, node) => node.more === 0 && !node.ghost && node.depth < tree.hops && (row(tree.g, node.base).length > 0 || tree.g.absent[node.base] === 1)

// children are what is drawn below a node: at most so many, with one that stands for the rest. Of the rest, ghosts, which
// are neighbours that the mask hides, come first, as they have nothing below them.
function children(tree, node, most) {
  const {g, mask, sizes, hops} = tree
  if (node.more > 0 || node.ghost || node.depth === hops) return []
  const left = hops - node.depth - 1
  const kids = []
  const ghosts = []
  for (const u of row(g, node.base)) (mask[u] ? ghosts : kids).push(u)
  let keep = kids.length
  let keepGhosts = ghosts.length
  if (keep + keepGhosts > most) {
    if (keep === 0) keepGhosts = Math.max(most - 1, 0)
    else if (most < 2) keep = keepGhosts = ghosts.length = 0
    else if (keep + 1 <= most) keepGhosts = most - keep - 1
    else {
      keep = keepGhosts > 0 ? most - 2 : most - 1
      keepGhosts = 0
    }
    if (ghosts.length - keepGhosts === 1 && most > 1) keepGhosts++
  }
  const child = (base, ghost) => ({key: node.key + '-' + base, base, depth: node.depth + 1, parent: node, more: 0, ghost, cut: false, children: []})
  const all = kids.slice(0, keep).map(u => child(u, false)).concat(ghosts.slice(0, keepGhosts).map(u => child(u, true)))
  all.sort((a, b) => a.base - b.base)
  const rest = (key, more, of, ghost, cut) => all.push({key: node.key + key, base: -1, depth: node.depth + 1, parent: node, more, of, ghost, cut, children: []})
  if (keep < kids.length) {
    let more = 0
    for (const u of kids.slice(keep)) more += sizes[left][u]
    rest('+', more, kids.length - keep, false, false)
  }
  if (keepGhosts < ghosts.length) rest('~', ghosts.length - keepGhosts, ghosts.length - keepGhosts, true, false)
  if (g.absent[node.base]) rest('?', 1, 0, false, true)
  return all
}

// toggle folds a node that has children on show, and unfolds others; a node that stands for the rest of its siblings
// gives way to some more of them.
export function toggle(open, node) {
  const parent = node.parent
  if (node.cut) return false
  if (node.more > 0) {
    const shown = parent.children.filter(c => c.more === 0).length
    open.set(parent.key, shown + mostChildren + 1)
    return true
  }
  if (node.children.some(c => c.more === 0)) {
    open.set(node.key, 0)
    return true
  }
  if (node.children.length === 0) return false
  open.set(node.key, mostChildren)
  return true
}

// walk lists a drawn tree's nodes, each before its children.
export function walk(root) {
  const all = [root]
  for (let i = 0; i < all.length; i++) all.push(...all[i].children)
  return all
}
