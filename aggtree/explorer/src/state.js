// What a fragment shows: the root, the hops, the mask and the epoch, what follows from them, and what can be done. It is
// pure, like core.js.

import {build, count, draw, readGraph, sizes} from './core.js'
import {drawing, toggle, walk} from './fold.js'

// The largest tree that tree() builds.
export const limit = 1000000

const ringStyles = 3
const colours = 7

export class State {
  constructor(data) {
    this.data = data
    this.g = readGraph(data.graph)
    this.ids = data.graph.ids
    this.root = data.root
    this.hops = data.hops
    this.mostHops = data.mostHops
    this.keepRate = data.keepRate
    this.maskable = data.train ? data.train.length : this.g.nodes
    this.seed = data.seed
    this.epoch = 0
    this.mask = new Uint8Array(this.g.nodes)
    for (const v of data.mask || []) this.mask[v] = 1
    this.open = new Map()
    this.update()
  }

  // update computes what follows from the state.
  update() {
    const {g, root, hops, mask} = this
    this.counts = count(g, root, hops, mask)
    this.sizes = sizes(g, hops, mask)
    const key = root + ' ' + hops
    if (this.key !== key) {
      this.key = key
      this.rings = this.ringsOf(count(g, root, hops, new Uint8Array(g.nodes)).times)
    }
    this.masked = 0
    for (const m of mask) this.masked += m
    this.draw()
  }

  draw() {
    this.tree = drawing(this, this.open)
  }

  // ringsOf gives a ring to each base that occurs more than once, the root's first, then those that occur most. It goes by
  // the unmasked tree, so that colours stay as they are from epoch to epoch.
  ringsOf(times) {
    const many = []
    times.forEach((n, v) => {
      if (n > 1 && v !== this.root) many.push(v)
    })
    many.sort((a, b) => times[b] - times[a] || a - b)
    return new Map([this.root, ...many.slice(0, ringStyles * colours - 1)].map((v, i) => [v, i]))
  }

  // look is how a base is drawn: the numbers of its colour and of its class's shape; -1 for none.
  look(v) {
    const own = this.data.colours ? this.data.colours[v] : -1
    const ring = this.rings.has(v) ? this.rings.get(v) : -1
    return {
      fill: own >= 0 ? own % colours : this.data.colours || ring < 0 ? -1 : ring % colours,
      shape: own >= 0 ? (own + Math.floor(own / colours)) % colours : -1,
      ring: ring < 0 ? -1 : ring % colours,
      style: ring < 0 ? 0 : Math.floor(ring / colours),
      root: v === this.root,
    }
  }

  name(v) {
    return (this.data.names && this.data.names[v]) || String(this.ids ? this.ids[v] : v)
  }

  className(v) {
    const own = this.data.colours ? this.data.colours[v] : -1
    return own < 0 ? '' : (this.data.classes && this.data.classes[own]) || 'class ' + own
  }

  // find is the node of a name or number; -1 if there is none.
  find(text) {
    text = text.trim()
    let v = this.data.names ? this.data.names.indexOf(text) : -1
    if (v < 0 && /^\d{1,10}$/.test(text)) v = this.inPage(Number(text))
    return v
  }

  // inPage is the page's number of a node of the whole graph; -1 if the page does not hold it.
  inPage(id) {
    if (this.ids) return this.ids.indexOf(id)
    return id >= 0 && id < this.g.nodes ? id : -1
  }

  setRoot(v) {
    this.root = v
    this.open.clear()
    this.update()
  }

  setHops(hops) {
    this.hops = Math.max(0, Math.min(this.mostHops, hops))
    this.open.clear()
    this.update()
  }

  toggleMask(v) {
    this.mask[v] ^= 1
    this.update()
  }

  unmaskAll() {
    this.mask.fill(0)
    this.epoch = 0
    this.update()
  }

  // setEpoch draws the mask of an epoch; epoch 0 is what the page began with.
  setEpoch(epoch) {
    this.epoch = epoch
    if (this.drawnFor !== epoch) {
      this.numbers = draw(this.maskable, this.seed, epoch)
      this.drawnFor = epoch
    }
    const {train} = this.data
    this.mask.fill(0)
    this.numbers.forEach((u, i) => (this.mask[train ? train[i] : i] = u >= this.keepRate ? 1 : 0))
    this.update()
  }

  // setMask masks these nodes of the whole graph, as an epoch of a training that runs elsewhere does.
  setMask(ids, epoch) {
    this.epoch = epoch
    this.mask.fill(0)
    for (const id of ids) {
      const v = this.place(id)
      if (v >= 0) this.mask[v] = 1
    }
    this.update()
  }

  // setColours gives each node of the whole graph a number, as its class.
  setColours(numbers) {
    this.data.colours = Array.from({length: this.g.nodes}, (_, v) => numbers[this.ids ? this.ids[v] : v])
    this.draw()
  }

  // place is inPage for many nodes: it looks them up.
  place(id) {
    if (!this.ids) return this.inPage(id)
    this.places = this.places || new Map(this.ids.map((id, v) => [id, v]))
    return this.places.has(id) ? this.places.get(id) : -1
  }

  setKeepRate(rate) {
    this.keepRate = Math.min(1, Math.max(0, rate))
    this.setEpoch(Math.max(1, this.epoch))
  }

  toggle(node) {
    const done = toggle(this.open, node)
    if (done) this.draw()
    return done
  }

  refold() {
    this.open.clear()
    this.draw()
  }

  // shown lists the drawn nodes, each before its children.
  shown() {
    return walk(this.tree)
  }

  walkOf(node) {
    const bases = []
    for (let n = node; n; n = n.parent) bases.unshift(n.base)
    return bases
  }

  // built is the whole tree in the numbers of the whole graph; null if it has more nodes than the limit, or the page holds
  // only a part of it.
  built() {
    const tree = build(this.g, this.root, this.hops, this.mask, limit)
    if (tree && this.ids) tree.base = tree.base.map(v => this.ids[v])
    return tree
  }
}
