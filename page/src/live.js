// The neighbourhood of a node and its aggregation tree, while a model trains: who is masked in this epoch, and which class the model
// gives each node now.

import {start} from '../../aggtree/explorer/src/main.js'

// Milliseconds between drawings: eyes do not need more.
const tempo = 90

export class Live {
  constructor(holder) {
    this.holder = holder
    this.next = null
    this.waiting = 0
  }

  // open draws a graph round a node.
  open(data) {
    const host = document.createElement('div')
    host.className = 'nodemask-explorer'
    this.holder.replaceChildren(host)
    start(host, data, {live: true})
    this.host = host
    this.truth = data.colours
  }

  // epoch shows an epoch, unless the one before was shown a moment ago; the last one is always shown.
  epoch({epoch, masked, classes}) {
    if (!this.host) return
    this.next = {epoch, masked: masked || [], classes}
    if (this.waiting) return
    this.draw()
    this.waiting = setTimeout(() => {
      this.waiting = 0
      if (this.next) this.draw()
    }, tempo)
  }

  draw() {
    const {epoch, masked, classes} = this.next
    this.next = null
    this.host.nodemask.setMask(masked, epoch)
    if (classes) this.host.nodemask.setColours(classes)
  }

  // root is the node that is looked at.
  root() {
    return this.host ? this.host.nodemask.root() : 0
  }
}
