// The computing part: graphs, masks, trees and their counts. It is pure, and knows no page, so that Go's tests run it as
// it is. Its trees are those of aggtree.Build, its draws those of hyper.KeepRate.

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

// bytesOf decodes base64.
export function bytesOf(text) {
  const value = new Uint8Array(128)
  for (let i = 0; i < 64; i++) value[digits.charCodeAt(i)] = i
  const length = text.replace(/=+$/, '').length
  const bytes = new Uint8Array((length * 6) >> 3)
  for (let i = 0, at = 0, bits = 0, have = 0; i < length; i++) {
    bits = ((bits << 6) | value[text.charCodeAt(i)]) & 0xfffff
    have += 6
    if (have >= 8) {
      have -= 8
      bytes[at++] = (bits >> have) & 255
    }
  }
  return bytes
}

// readGraph makes a graph of what Go embedded. Its rows are, as varints, the number of neighbours plus one, or 0 for a row
// that was left out, and then the distance of each neighbour from the one before it. Where ids is given, node i of the
// page is node ids[i] of the whole graph.
export function readGraph(data) {
  const bytes = bytesOf(data.rows)
  let at = 0
  const next = () => {
    let n = 0
    for (let scale = 1; ; scale *= 128) {
      const b = bytes[at++]
      n += (b & 127) * scale
      if (b < 128) return n
    }
  }
  const offsets = new Int32Array(data.nodes + 1)
  const targets = new Int32Array(data.entries)
  const absent = new Uint8Array(data.nodes)
  let end = 0
  for (let v = 0; v < data.nodes; v++) {
    let u = 0
    let degree = next()
    if (degree === 0) absent[v] = 1
    for (; degree > 1; degree--) targets[end++] = u += next()
    offsets[v + 1] = end
  }
  return {nodes: data.nodes, offsets, targets, absent}
}

// row is the neighbours of v, in ascending order.
export function row(g, v) {
  return g.targets.subarray(g.offsets[v], g.offsets[v + 1])
}

// count counts the nodes of T_root^hops at each depth without building it, the distinct bases among them, and how many
// stand for the root. times[v] is how often v occurs. cut is the number of tree nodes whose neighbours the page does not
// hold: the tree has more nodes below them.
export function count(g, root, hops, mask) {
  let times = new Float64Array(g.nodes)
  let bases = [root]
  const all = new Float64Array(g.nodes)
  times[root] = 1
  all[root] = 1
  const depth = [1]
  let cut = 0
  for (let d = 0; d < hops; d++) {
    const next = new Float64Array(g.nodes)
    const found = []
    let sum = 0
    for (const v of bases) {
      if (g.absent[v]) cut += times[v]
      for (let e = g.offsets[v]; e < g.offsets[v + 1]; e++) {
        const u = g.targets[e]
        if (mask[u]) continue
        if (next[u] === 0) found.push(u)
        next[u] += times[v]
        sum += times[v]
      }
    }
    for (const u of found) all[u] += next[u]
    depth.push(sum)
    times = next
    bases = found
  }
  let distinct = 0
  for (let v = 0; v < g.nodes; v++) if (all[v] > 0) distinct++
  return {depth, total: depth.reduce((a, b) => a + b, 0), distinct, replicas: all[root], cut, times: all}
}

// sizes is how many nodes T_v^d has for each v and each d up to hops. By lemma 1 this is the size of any subtree of any
// tree, from the base of its top and the hops left there.
export function sizes(g, hops, mask) {
  const table = [new Float64Array(g.nodes).fill(1)]
  for (let d = 1; d <= hops; d++) {
    const above = table[d - 1]
    const size = new Float64Array(g.nodes).fill(1)
    for (let v = 0; v < g.nodes; v++) {
      for (let e = g.offsets[v]; e < g.offsets[v + 1]; e++) {
        const u = g.targets[e]
        if (!mask[u]) size[v] += above[u]
      }
    }
    table.push(size)
  }
  return table
}

// build is T_root^hops in the form of Go's aggtree.Tree: nodes level by level, siblings ascending by base. It is null for
// a tree of more nodes than the limit, or one that the page holds only a part of.
export function build(g, root, hops, mask, limit) {
  const counts = count(g, root, hops, mask)
  if (counts.total > limit || counts.cut > 0) return null
  const base = [root]
  const parent = [-1]
  const firstChild = []
  const hidden = []
  const level = [0, 1]
  for (let d = 0; d < hops; d++) {
    for (let i = level[d]; i < level[d + 1]; i++) {
      firstChild.push(base.length)
      let masked = 0
      for (const u of row(g, base[i])) {
        if (mask[u]) {
          masked++
          continue
        }
        base.push(u)
        parent.push(i)
      }
      hidden.push(masked)
    }
    level.push(base.length)
  }
  while (firstChild.length <= base.length) firstChild.push(base.length)
  while (hidden.length < base.length) hidden.push(0)
  return {base, parent, firstChild, level, hidden, rootMasked: !!mask[root]}
}

const m64 = (1n << 64n) - 1n
const m128 = (1n << 128n) - 1n

// generator gives the numbers from 0 to 1 of Go's rand.New(rand.NewPCG(seed, stream)): PCG with 128 bits of state.
export function generator(seed, stream) {
  let state = (BigInt.asUintN(64, BigInt(seed)) << 64n) | BigInt.asUintN(64, BigInt(stream))
  const times = (2549297995355413924n << 64n) | 4865540595714422341n
  const plus = (6364136223846793005n << 64n) | 1442695040888963407n
  return () => {
    state = (state * times + plus) & m128
    let high = state >> 64n
    high ^= high >> 32n
    high = (high * 0xda942042e4dd58b5n) & m64
    high ^= high >> 48n
    high = (high * (state & m64 | 1n)) & m64
    return Number(high & 0x1fffffffffffffn) / 9007199254740992
  }
}

// draw is an epoch's numbers, one a node: the node is masked if its number is at least the keep rate. Equal numbers mask
// nested sets at different rates.
export function draw(nodes, seed, epoch) {
  const next = generator(seed, epoch)
  return Float64Array.from({length: nodes}, next)
}
