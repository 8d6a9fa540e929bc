// "Run it here": a click on an entry of a table, or on a point of a figure, trains one more trial of its very cell, in the page.

import {Chart} from './chart.js'
import {dataBeside} from './engine.js'

const words = cell => {
  const choices = Object.entries(cell.choices).map(([name, value]) => `${name} ${value || 'none'}`)
  return [`${cell.model.toUpperCase()} on ${cell.data}, ${cell.setting}, ${cell.train} % to train on`, ...choices].join(', ')
}

// buttons lays a button over each point of a figure that can be run here, and returns them.
function buttons(picture, here) {
  const places = JSON.parse(picture.dataset.places).filter(place => here(JSON.parse(place.cell)))
  if (places.length === 0) return []
  const frame = document.createElement('span')
  frame.className = 'nm-figure'
  picture.replaceWith(frame)
  const all = places.map(({left, top, name, cell}) => {
    const button = Object.assign(document.createElement('button'), {type: 'button', className: 'nm-point', title: name})
    Object.assign(button.style, {left: `${left}%`, top: `${top}%`})
    button.dataset.cell = cell
    return button
  })
  frame.append(picture, ...all)
  return all
}

// first is the first line of an entry: the number itself, without what stands below it.
function first(entry) {
  let text = ''
  for (const node of entry.childNodes) {
    if (node.nodeName === 'BR') break
    text += node.textContent
  }
  return text.trim()
}

export class Entries {
  // beside are the data sets that lie beside the page: entries of others that the program does not hold stay as they are.
  constructor(engine, beside) {
    this.engine = engine
    this.beside = beside
    this.done = new Map() // by cell: what was run here
    const here = cell => /^(cora|pubmed|sbm(:.*)?)$/.test(cell.data) || beside.includes(cell.data)
    const entries = [...document.querySelectorAll('[data-cell]')].filter(entry => here(JSON.parse(entry.dataset.cell)))
    const points = [...document.querySelectorAll('img[data-places]')].flatMap(picture => buttons(picture, here))
    if (entries.length + points.length === 0) return
    for (const entry of [...entries, ...points]) entry.addEventListener('click', () => this.open(entry))
    for (const point of points) point.setAttribute('aria-label', `${point.title}. Run it here`)
    for (const entry of entries) {
      entry.tabIndex = 0
      entry.classList.add('nm-entry')
      entry.setAttribute('role', 'button')
      entry.setAttribute('aria-description', 'Run it here')
      entry.addEventListener('keydown', event => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        this.open(entry)
      })
    }
    const hint = (where, what) => where.after(Object.assign(document.createElement('p'), {className: 'nm-hint', textContent: `Click a ${what} to run it here: one more trial, in your browser.`}))
    for (const table of new Set(entries.map(e => e.closest('figure') || e.closest('table')))) hint(table, 'number')
    for (const figure of new Set(points.map(p => p.parentElement))) hint(figure, 'point')
    this.panel = this.build()
    document.body.append(this.panel)
  }

  build() {
    const panel = document.createElement('dialog')
    panel.className = 'nm-panel'
    panel.setAttribute('aria-labelledby', 'nm-panel-title')
    panel.innerHTML = `<h2 id="nm-panel-title">Run it here</h2><p class="nm-what"></p><p class="nm-recorded"></p>
<div class="nm-charts"><div class="nm-loss"></div></div><p class="nm-status" role="status" aria-live="polite"></p><ol class="nm-results"></ol>
<p class="nm-bar"><button type="button" class="nm-go">Train one more trial</button><button type="button" class="nm-close">Close</button></p>
<p class="nm-small">The seed draws what it draws everywhere: split, first weights, masks. The recorded trials were computed by XLA, whose rounding differs in the last digits; the page computes in Go, and more slowly.</p>`
    this.find = selector => panel.querySelector(selector)
    this.chart = new Chart(this.find('.nm-loss'), {title: 'Loss', unit: 'cross-entropy'})
    this.find('.nm-go').addEventListener('click', () => (this.job ? this.job.stop() : this.train()))
    const stop = () => this.job && this.job.stop()
    this.find('.nm-close').addEventListener('click', () => {
      stop()
      panel.close()
    })
    panel.addEventListener('cancel', stop)
    // The event comes some time after the panel has closed: by then it may be open again, with a job that is not meant.
    panel.addEventListener('close', () => panel.open || stop())
    return panel
  }

  open(entry) {
    const {find} = this
    this.cell = JSON.parse(entry.dataset.cell)
    find('.nm-what').textContent = words(this.cell)
    const point = entry.classList.contains('nm-point')
    find('.nm-recorded').textContent = point ? `In the figure: ${entry.title}.` : `In the table: ${first(entry)}${entry.title ? ` (${entry.title.split(';')[0]})` : ''}.`
    find('.nm-status').textContent = ''
    this.chart.draw([])
    this.list()
    this.panel.showModal()
  }

  runs() {
    const key = JSON.stringify(this.cell)
    if (!this.done.has(key)) this.done.set(key, [])
    return this.done.get(key)
  }

  list() {
    this.find('.nm-results').replaceChildren(...this.runs().map(({seed, f1}) => Object.assign(document.createElement('li'), {textContent: `seed ${seed}: macro F1 ${f1.toFixed(2)}`})))
  }

  async train() {
    const {find} = this
    const runs = this.runs()
    const seed = 1001 + runs.length // none of those that are recorded
    const train = []
    const validation = []
    const draw = best => this.chart.draw([{name: 'train', colour: 'plain', values: train}, {name: 'validation', colour: 'plain', dashed: true, values: validation, best}])
    find('.nm-go').textContent = 'Stop'
    this.engine.say = text => text && (find('.nm-status').textContent = text)
    try {
      if (this.beside.includes(this.cell.data)) await this.engine.ask({kind: 'open', data: this.cell.data}, {files: await dataBeside(this.cell.data)}).done
      this.job = this.engine.ask({kind: 'train', cell: this.cell, seed}, {epoch: event => {
        train.push(event.trainLoss)
        validation.push(event.validationLoss)
        this.frame = this.frame || requestAnimationFrame(() => {
          this.frame = 0
          draw()
          find('.nm-status').textContent = `Seed ${seed}: epoch ${train.length}.`
        })
      }})
      const event = await this.job.done
      if (event.kind === 'stopped') {
        find('.nm-status').textContent = `Stopped after ${train.length} epochs.`
        return
      }
      draw(event.trained.bestEpoch)
      runs.push({seed, f1: event.trained.f1})
      this.list()
      const mean = runs.reduce((sum, run) => sum + run.f1, 0) / runs.length
      find('.nm-status').textContent = `Here: ${mean.toFixed(2)}, ${runs.length === 1 ? 'one trial' : `mean of ${runs.length} trials`}.${event.trained.published === undefined ? '' : ` The paper: ${event.trained.published.toFixed(2)}.`}`
    } catch (error) {
      find('.nm-status').textContent = error.message
    } finally {
      this.job = null
      find('.nm-go').textContent = 'Train one more trial'
    }
  }
}
