// "Run this trial here": a click on an entry of a table, or on a point of a figure, shows its command and its recorded trials, and trains
// the one that was recorded as browsers compute: the page says whether it gets the same.

import {Chart} from './chart.js'
import {loaded} from './engine.js'

const words = cell => {
  const choices = Object.entries(cell.choices).map(([name, value]) => `${name} ${value || 'none'}`)
  return [`${cell.model.toUpperCase()} on ${cell.data}, ${cell.setting}, ${cell.train} % to train on`, ...choices].join(', ')
}

// buttons lays a button over each point of a figure, and returns them.
function buttons(picture) {
  let frame = picture.closest('.nm-figure') // a notebook's, whose points open trials without a script
  if (!frame) {
    frame = document.createElement('span')
    frame.className = 'nm-figure'
    picture.replaceWith(frame)
  }
  const all = JSON.parse(picture.dataset.places).map(({left, top, name, cell}) => {
    const button = Object.assign(document.createElement('button'), {type: 'button', className: 'nm-point', title: name})
    Object.assign(button.style, {left: `${left}%`, top: `${top}%`})
    button.dataset.cell = cell
    button.setAttribute('aria-label', `${name}. Run it here`)
    return button
  })
  frame.replaceChildren(picture, ...all)
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

const lasting = seconds => (seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds)} s`)

// compared says whether a trial is the recorded one.
export function compared(here, recorded) {
  const differ = ['split_hash', 'macro_f1', 'best_epoch', 'epochs'].filter(name => here[name] !== recorded[name])
  if (differ.length === 0) return `Equal, to the last digit: macro F1 ${here.macro_f1}, epoch ${here.best_epoch} of ${here.epochs} kept.`
  if (differ[0] === 'split_hash') return 'Not the same trial: this page draws another split.'
  const by = here.macro_f1 - recorded.macro_f1
  return `It differs by ${(by < 0 ? '−' : '+') + Math.abs(by)} points: macro F1 ${here.macro_f1} here, ${recorded.macro_f1} recorded; epoch ${here.best_epoch} of ${here.epochs} kept here, ${recorded.best_epoch} of ${recorded.epochs} there.`
}

export class Entries {
  constructor(engine) {
    this.engine = engine
    const entries = [...document.querySelectorAll('td[data-cell]')]
    const points = [...document.querySelectorAll('[data-places]')].flatMap(buttons)
    if (entries.length + points.length === 0) return
    for (const entry of [...entries, ...points]) entry.addEventListener('click', () => this.open(entry))
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
    const hint = (where, what) => where.after(Object.assign(document.createElement('p'), {className: 'nm-hint', textContent: `Click a ${what}: its command, its recorded trials, and the trial run again in your browser.`}))
    for (const table of new Set(entries.map(e => e.closest('figure') || e.closest('table')))) hint(table, 'number')
    for (const figure of new Set(points.map(p => p.parentElement))) hint(figure, 'point')
    this.panel = this.build()
    document.body.append(this.panel)
  }

  build() {
    const panel = document.createElement('dialog')
    panel.className = 'nm-panel'
    panel.setAttribute('aria-labelledby', 'nm-panel-title')
    panel.innerHTML = `<h2 id="nm-panel-title"></h2><p class="nm-recorded"></p><p class="nm-command"><code></code></p>
<details class="nm-trials"><summary></summary><p class="nm-small"></p></details>
<div class="nm-charts" hidden><div class="nm-loss"></div></div>
<p class="nm-small nm-legend" hidden>Solid: trained on. Dashed: on validation nodes. Ring: the epoch that was kept.</p>
<p class="nm-status" role="status" aria-live="polite"></p>
<p class="nm-bar"><button type="button" class="nm-go">Run this trial here</button><button type="button" class="nm-other" hidden></button><button type="button" class="nm-close">Close</button></p>`
    this.find = selector => panel.querySelector(selector)
    this.chart = new Chart(this.find('.nm-loss'), {title: 'Loss', unit: 'cross-entropy'})
    this.find('.nm-go').addEventListener('click', () => (this.job ? this.job.stop() : this.train()))
    const stop = () => this.job && this.job.stop()
    this.find('.nm-other').addEventListener('click', () => {
      stop()
      this.show(this.other, this.key)
    })
    this.find('.nm-close').addEventListener('click', () => {
      stop()
      panel.close()
    })
    panel.addEventListener('cancel', stop)
    // The event comes some time after the panel has closed: by then it may be open again, with a job that is not meant.
    panel.addEventListener('close', () => panel.open || stop())
    return panel
  }

  // open shows an entry's cell. A point that is a difference has two, of which the reader sees the masked one first.
  open(entry) {
    const point = entry.classList.contains('nm-point')
    this.find('.nm-recorded').textContent = point ? `In the figure: ${entry.title}.` : `In the table: ${first(entry)}${entry.title ? ` (${entry.title.split(';')[0]})` : ''}.`
    this.panel.showModal()
    return this.show(...entry.dataset.cell.split('\n'))
  }

  async show(key, other) {
    const {find} = this
    this.key = key
    this.other = other
    this.cell = JSON.parse(key)
    find('h2').textContent = words(this.cell)
    find('.nm-other').hidden = !other
    find('.nm-other').textContent = this.cell.choices.keep ? 'Show it without masking' : 'Show it with masking'
    for (const part of ['.nm-charts', '.nm-legend', '.nm-command', '.nm-trials', '.nm-go']) find(part).hidden = true
    find('.nm-status').textContent = ''
    try {
      if (!window.nodemaskTrials) await loaded('trials.js', 'What was recorded')
    } catch (error) {
      find('.nm-status').textContent = error.message
    }
    if (key !== this.key) return // another one was opened meanwhile
    const {command, seeds = [], f1 = [], again} = (window.nodemaskTrials || {})[key] || {}
    this.again = again
    find('.nm-command').hidden = !command
    find('.nm-command code').textContent = command || ''
    find('.nm-trials').hidden = f1.length === 0
    find('summary').textContent = `${f1.length} recorded ${f1.length === 1 ? 'trial' : 'trials'}`
    find('.nm-trials p').textContent = `Macro F1 by seed, computed by XLA, which rounds otherwise than browsers do: ${f1.map((x, i) => `${seeds[i]}: ${x.toFixed(2)}`).join(', ')}.`
    find('.nm-go').hidden = !again
    const seconds = again ? 2 * again.seconds : 0
    if (again) find('.nm-status').textContent = `Seed ${again.seed}, as the command has it with --backend go; its macro F1 is compared. It takes up to ${lasting(seconds)}${seconds > 60 ? '; Stop stops it' : ''}.`
    else find('.nm-status').textContent = `No trial of this is recorded as browsers compute it, so a page has nothing to compare with${command ? ': the command trains it' : ''}.`
  }

  async train() {
    const {find, again} = this
    const train = []
    const validation = []
    const draw = best => this.chart.draw([{name: 'train', colour: 'plain', values: train}, {name: 'validation', colour: 'plain', dashed: true, values: validation, best}])
    find('.nm-go').textContent = 'Stop'
    find('.nm-charts').hidden = find('.nm-legend').hidden = false
    draw()
    this.engine.say = text => text && (find('.nm-status').textContent = text)
    try {
      this.job = this.engine.ask({kind: 'train', cell: this.cell, seed: again.seed}, {epoch: event => {
        train.push(event.trainLoss)
        validation.push(event.validationLoss)
        this.frame = this.frame || requestAnimationFrame(() => {
          this.frame = 0
          draw()
          if (this.job) find('.nm-status').textContent = `Epoch ${train.length} of ${again.epochs}.`
        })
      }})
      const event = await this.job.done
      this.job = null
      if (event.kind === 'stopped') {
        find('.nm-status').textContent = `Stopped after ${train.length} epochs.`
        return
      }
      draw(event.trained.bestEpoch)
      find('.nm-status').textContent = compared(JSON.parse(event.trained.record), again)
    } catch (error) {
      find('.nm-status').textContent = error.message
    } finally {
      this.job = null
      find('.nm-go').textContent = 'Run this trial here'
    }
  }
}
