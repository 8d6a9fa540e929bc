// What the two drawings have in common: lines, nodes above them, and one node in the tab order.

import {select} from 'd3-selection'

export class View {
  // id tells a node of the drawing from all others, however often it is drawn again.
  constructor(svg, state, act, id) {
    this.svg = select(svg)
    this.state = state
    this.act = act
    this.id = id
    this.links = this.svg.append('g').attr('class', 'links').attr('aria-hidden', 'true')
    this.nodes = this.svg.append('g').attr('class', 'nodes').attr('role', 'presentation')
    this.focus = null
  }

  // go moves the keyboard to a node.
  go(id) {
    this.focus = id
    this.rove()
    /** @type {any} */
    const element = this.nodes.selectAll('g').filter(n => this.id(n) === id).node()
    if (element) element.focus()
  }

  // rove leaves one node in the tab order.
  rove() {
    this.nodes.selectAll('g').attr('tabindex', n => (this.id(n) === this.focus ? 0 : -1))
  }
}
