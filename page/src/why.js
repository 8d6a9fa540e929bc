// Why the network says what it says: the branches of a node's tree that decide, and each number of the tree as the sum that it is.

const digits = x => (Object.is(Math.round(x * 1000), -0) ? 0 : x).toFixed(3).replace('-', '−')

// cellsOf adds a cell for each number, coloured by its size beside the largest.
function cellsOf(row, values, most) {
  for (const x of values) {
    const td = row.insertCell()
    td.textContent = digits(x)
    td.className = x < 0 ? 'less' : 'more'
    td.style.setProperty('--share', `${((100 * Math.abs(x)) / (most || 1)).toFixed(0)}%`)
  }
}

function head(row, text, scope, className = '') {
  row.append(Object.assign(document.createElement('th'), {textContent: text, scope, className}))
}

// unfolded is a sum as a table: a row for each term, and one for each step from the sum on. Columns are classes, where they are logits.
export function unfolded(sum, name, classes) {
  const table = document.createElement('table')
  table.className = 'unfolded'
  table.createCaption().textContent = sum.formula
  const width = sum.steps[0].values.length
  const top = table.createTHead().insertRow()
  for (const text of ['node', '', 'δ', 'weight']) head(top, text, 'col')
  for (let i = 0; i < width; i++) head(top, classes ? classes[i] : String(i), 'col')
  const body = table.createTBody()
  const most = Math.max(...[...sum.terms, ...sum.steps].flatMap(({values}) => values.map(Math.abs)))
  for (const {node, name: what, kept, weights, values} of sum.terms) {
    const row = body.insertRow()
    row.className = kept ? '' : 'hidden-term'
    head(row, name(node), 'row')
    for (const text of [what, String(kept), weights.map(w => w.toFixed(3)).join(' ')]) row.insertCell().textContent = text
    cellsOf(row, values, most)
  }
  for (const {name: step, values} of sum.steps) {
    const row = body.insertRow()
    row.className = 'step'
    head(row, step, 'row')
    row.insertCell().colSpan = 3
    if (values.length === width) cellsOf(row, values, most)
    else {
      const td = row.insertCell()
      td.colSpan = width
      td.className = 'words'
      td.textContent = values.map(digits).join('  ')
    }
  }
  const off = Math.max(...sum.model.map((x, i) => Math.abs(x - sum.steps[sum.steps.length - 1].values[i])))
  const foot = document.createElement('p')
  foot.className = 'soft'
  foot.textContent = off < 1e-3 ? `The last row is what the network itself computes; they differ by at most ${off.toExponential(0)}.` : `The network itself computes something else: they differ by ${off}.`
  const scroll = document.createElement('div')
  scroll.className = 'scroll wide'
  scroll.append(table)
  const all = document.createElement('div')
  all.append(scroll, foot)
  return all
}

export class Why {
  /** @param {import('./engine.js').Engine} engine @param {import('./live.js').Live} live */
  constructor(find, engine, live) {
    this.find = find
    this.engine = engine
    this.live = live
    this.data = null // what the network was trained on; null: none is
    this.classes = []
    this.last = 0
    find('#explain').addEventListener('click', () => this.explain())
    find('#live').addEventListener('nodemask:node', event => this.unfold(event))
  }

  // trained says that a network was trained.
  trained(data, classes) {
    this.data = data
    this.classes = classes
    this.find('#explain').disabled = false
    for (const id of ['#because', '#sums']) this.find(id).replaceChildren()
  }

  // answer shows what the engine answers, unless something newer was asked for.
  async answer(place, request, show) {
    const turn = ++this.last
    try {
      const event = await this.engine.ask({...request, data: this.data}).done
      if (turn === this.last) place.replaceChildren(...show(event))
    } catch (error) {
      if (turn === this.last) place.replaceChildren(Object.assign(document.createElement('p'), {className: 'soft', textContent: error.message}))
    }
  }

  explain() {
    if (this.data === null) return
    const because = this.find('#because')
    this.answer(because, {kind: 'explain', root: this.live.root()}, ({explained}) => {
      const picture = Object.assign(document.createElement('img'), {src: 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(explained.svg), alt: 'The tree, with edges as wide as what their branches add'})
      const scroll = document.createElement('div')
      scroll.className = 'scroll wide'
      scroll.append(picture)
      const tables = Object.assign(document.createElement('div'), {className: 'tables', innerHTML: explained.tables.join('')})
      return [Object.assign(document.createElement('p'), {textContent: explained.sentence}), scroll, tables]
    })
  }

  // unfold shows the sum of a tree node in the place of folding what is below it.
  unfold(event) {
    if (this.data === null) return
    event.preventDefault()
    const {node, depth} = event.detail
    const masked = this.live.host.nodemask.masked()
    this.answer(this.find('#sums'), {kind: 'unfold', root: node, depth, masked}, ({sums, names}) => sums.flatMap((sum, i) => [
      Object.assign(document.createElement('h3'), {textContent: `${sum.formula.startsWith('logits') ? 'The logits' : `Layer ${sum.layer}`} of node ${names[node]}${masked.length ? ', with the masks of this epoch' : ''}`}),
      unfolded(sum, v => names[v], depth === 0 && i === 0 && this.classes),
    ]))
  }
}
