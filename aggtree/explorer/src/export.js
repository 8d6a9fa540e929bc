// The drawings as one SVG file that needs nothing else.

import {entries, sample} from './legend.js'
import css from './drawing.css'

const margin = 16
const head = 26
const row = 24

export function exported(panel) {
  const {state, graph, tree, section} = panel
  const style = getComputedStyle(section)
  const colours = css.replace(/var\((--\w+)\)/g, (_, name) => style.getPropertyValue(name).trim())
  const paper = style.getPropertyValue('--paper').trim()
  const ink = style.getPropertyValue('--ink').trim()
  const left = graph.width + 2 * margin
  const heads = [panel.find('#graph-head').textContent, panel.find('#tree-head').textContent]
  const sentences = [panel.sizes(), panel.rest()]
  const width = Math.max(left + tree.width + margin, left + heads[1].length * 7.5 + margin, ...sentences.map(s => s.length * 6.8 + 2 * margin))
  let bottom = margin + head + Math.max(graph.height, tree.height) + margin
  const legend = []
  let x = margin
  for (const {names, shape, text, more} of entries(panel)) {
    const room = 40 + text.length * 7 + 12
    if (x > margin && x + room > width) {
      x = margin
      bottom += row
    }
    if (names) legend.push(`<g transform="translate(${x + 16},${bottom + 9})">${inner(sample(names, shape, more))}</g>`)
    legend.push(`<text x="${x + 38}" y="${bottom + 13}" fill="${ink}">${escape(text)}</text>`)
    x += room
  }
  bottom += row
  const text = (x, y, words, more = '') => `<text x="${x}" y="${y}" fill="${ink}"${more}>${escape(words)}</text>`
  const height = bottom + margin + 36
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escape(`The ${state.hops}-aggregation tree of ${state.name(state.root)}`)}</title>
<desc>${escape(sentences.join(' '))}</desc>
<style>${escape(colours)}</style>
<rect width="100%" height="100%" fill="${paper}"/>
${text(margin, margin + 12, heads[0], ' font-weight="bold"')}
${text(left, margin + 12, heads[1], ' font-weight="bold"')}
<g transform="translate(${margin},${margin + head})">${inner(graph.svg.node())}</g>
<g transform="translate(${left},${margin + head})">${inner(tree.svg.node())}</g>
${legend.join('\n')}
${sentences.map((words, i) => text(margin, bottom + 24 + 18 * i, words)).join('\n')}
</svg>
`
}

// inner is what an element holds, as XML, without what only the page needs.
function inner(svg) {
  const copy = svg.cloneNode(true)
  for (const element of copy.querySelectorAll('*')) {
    for (const {name} of [...element.attributes]) {
      if (/^(aria-|role$|tabindex$|data-)/.test(name)) element.removeAttribute(name)
    }
    element.classList.remove('lit', 'walk')
  }
  return [...copy.children].map(child => new XMLSerializer().serializeToString(child).replace(/ xmlns="[^"]*"/g, '')).join('')
}

function escape(text) {
  return text.replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c])
}
