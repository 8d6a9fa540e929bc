// The runs of this page: kept in the browser, summed up by cell, saved as the lines that nodemask's results are made of.

const place = 'nodemask-runs'
const most = 2000

const number = (x, digits = 2) => (x === undefined || x === null ? '–' : x.toFixed(digits).replace('-', '−'))
const signed = x => (x === undefined || x === null ? '' : (x < 0 ? '−' : '+') + Math.abs(x).toFixed(2))

// once leaves the last line of each trial, which its cell and seed tell: trained again, it is the same.
const once = lines => [...new Map(lines.map(line => {
  try {
    const {cell, seed} = JSON.parse(line)
    return [`${cell} ${seed}`, line]
  } catch {
    return [line, line]
  }
})).values()].slice(-most)

export class Runs {
  constructor(page, engine) {
    this.engine = engine
    this.page = page
    this.lines = []
    try {
      this.lines = JSON.parse(localStorage.getItem(place) || '[]').filter(line => typeof line === 'string')
    } catch {
      this.lines = [] // what is stored there is not ours
    }
    addEventListener('storage', ({key, newValue}) => key === place && this.hear(newValue))
    const {find} = page
    find('#save').addEventListener('click', () => this.save())
    find('#clear').addEventListener('click', () => this.clear())
    this.show()
  }

  add(line) {
    this.lines = once([...this.lines, line])
    this.keep()
    return this.show()
  }

  keep() {
    const {page} = this
    try {
      // Another tab may have added runs since: none of them is lost.
      const stored = JSON.parse(localStorage.getItem(place) || '[]')
      this.lines = once([...stored, ...this.lines])
      localStorage.setItem(place, JSON.stringify(this.lines))
      page.find('#kept').textContent = ''
    } catch {
      page.find('#kept').textContent = 'This browser keeps nothing for this page: save the runs before you close it.'
    }
  }

  // hear takes what another tab kept or cleared. If both kept a run at the same moment, one is lost there: it is added again.
  hear(kept) {
    try {
      const stored = JSON.parse(kept || '[]')
      const both = once([...this.lines, ...stored])
      this.lines = stored
      if (kept !== null && both.length > stored.length) {
        this.lines = both
        localStorage.setItem(place, JSON.stringify(both))
      }
    } catch {
      return // what is stored there is not ours
    }
    this.show()
  }

  clear() {
    this.lines = []
    try {
      localStorage.removeItem(place)
    } catch {
      // nothing was kept
    }
    this.show()
  }

  save() {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([this.lines.map(line => line + '\n').join('')], {type: 'application/jsonl'}))
    link.download = 'nodemask-runs.jsonl'
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  }

  // show asks the program for the summary, since it knows the statistics: a page that keeps runs starts it when it opens.
  async show() {
    const {find} = this.page
    const none = this.lines.length === 0
    find('#runs').hidden = none
    find('#no-runs').hidden = !none
    find('#save').disabled = find('#clear').disabled = none
    find('#count').textContent = none ? '' : `${this.lines.length} ${this.lines.length === 1 ? 'trial' : 'trials'} kept in this browser.`
    if (none) return
    try {
      const {rows} = await this.engine.ask({kind: 'compare', records: this.lines}).done
      find('#runs tbody').replaceChildren(...rows.map(row => this.row(row)))
    } catch (error) {
      find('#count').textContent = `The kept trials cannot be read: ${error.message}`
    }
  }

  row(row) {
    const recorded = this.page.config.recorded[row.key]
    const tr = document.createElement('tr')
    const cell = (text, tag = 'td') => {
      const element = document.createElement(tag)
      element.textContent = text
      tr.append(element)
      return element
    }
    cell(row.label, 'th').setAttribute('scope', 'row')
    cell(`${row.data}, ${row.setting}, ${row.train} %`).className = 'words'
    cell(`${number(row.mean)}${row.sd === undefined ? '' : ' ± ' + number(row.sd)} (${row.trials})`)
    cell(row.difference === undefined ? '' : signed(row.difference))
    cell(row.p === undefined ? '' : row.p < 0.001 ? '< 0.001' : row.p.toFixed(3))
    cell(recorded ? `${number(recorded.mean)} ± ${number(recorded.sd)} (${recorded.n})` : '–')
    cell(row.published === undefined ? '–' : number(row.published))
    return tr
  }
}
