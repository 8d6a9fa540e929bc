// What reports can do beside being read: the live picture of the front page, in each element with data-nodemask-live, and tables whose
// entries can be run. In the picture two networks are trained, one with and one without node masking, while the reader watches one
// neighbourhood; without scripts what is in the element stays.

import {Engine} from './engine.js'
import {Entries} from './entries.js'
import style from './front.css'
import {Chart} from './chart.js'
import {Live} from './live.js'

const markup = `
<div class="nm-bar"><button type="button" class="nm-go">Train now</button>
<label>Keep rate p <input type="range" class="nm-keep" min="0.1" max="0.9" step="0.1" value="0.5"></label><output class="nm-now">0.5</output>
<span class="nm-status" role="status" aria-live="polite">Two networks, in your browser: some twenty seconds.</span></div>
<div class="nm-charts" hidden><figure><div class="nm-loss"></div><figcaption>Loss: trained on (solid) and on validation nodes (dashed).</figcaption></figure>
<figure><div class="nm-f1"></div><figcaption>Macro F1 on validation nodes: <b class="nm-plain">nothing masked</b>, <b class="nm-masked">masked</b>.</figcaption></figure></div>
<p class="nm-small nm-command" hidden></p>
<div class="nm-picture"></div>
<p class="nm-small">Cora, GIN, half of the nodes to train on; the others arrive after training. Dashed nodes are masked in this epoch; colours are the classes that the network gives now. One run is an anecdote: the figure above has the recorded trials, in this same reading. <a href="playground.html">The playground</a> has all choices.</p>`

// What the figure on this page shows of GIN and new nodes, at 50 %.
const shown = {data: 'cora', model: 'gin', setting: 'inductive', train: 50}

class Front {
  constructor(holder, engine) {
    const fallback = [...holder.childNodes]
    holder.innerHTML = markup
    this.find = selector => holder.querySelector(selector)
    const {find} = this
    find('.nm-picture').append(...fallback)
    this.engine = engine
    this.other = new Engine(config, () => {})
    this.live = new Live(find('.nm-picture'))
    this.loss = new Chart(find('.nm-loss'), {title: 'Loss', unit: 'cross-entropy'})
    this.f1 = new Chart(find('.nm-f1'), {title: 'Macro F1', unit: 'macro F1 (%)', fixed: [0, 100]})
    find('.nm-keep').addEventListener('input', () => (find('.nm-now').value = find('.nm-keep').value))
    find('.nm-go').addEventListener('click', () => this.toggle())
  }

  say(words) {
    this.find('.nm-status').textContent = words
  }

  async toggle() {
    if (this.jobs) {
      for (const job of this.jobs) job.stop()
      this.stopped = true
      return
    }
    const {find} = this
    const keep = Number(find('.nm-keep').value)
    this.engine.say = words => words && this.say(words)
    find('.nm-go').textContent = 'Stop'
    find('.nm-charts').hidden = false
    this.jobs = []
    this.stopped = false
    this.seed = (this.seed || 0) + 1 // one for both: they differ in the mask alone
    const arms = []
    try {
      if (!this.live.host) {
        const {graph} = await this.engine.ask({kind: 'open', data: 'cora'}).done
        const {tree} = await this.engine.ask({kind: 'tree', data: 'cora', root: graph.start, hops: 2}).done
        this.live.open(tree)
      }
      // Both at once, each in a program of its own: they race.
      const race = async ({name, rate, colour, engine}) => {
        const arm = {name, colour, train: [], validation: [], f1: []}
        arms.push(arm)
        const cell = {...shown, choices: {keep: String(rate)}}
        const job = engine.ask({kind: 'train', cell, seed: this.seed, watch: rate < 1, pace: 30}, {epoch: event => this.epoch(arms, arm, event)})
        this.jobs.push(job)
        const event = await job.done
        if (event.kind === 'stopped') return
        arm.test = event.trained.f1
        arm.best = event.trained.bestEpoch
        if (rate < 1) this.command(event.trained.command)
        this.draw(arms)
      }
      await Promise.all([race({name: 'masked', rate: keep, colour: 'masked', engine: this.engine}), race({name: 'nothing masked', rate: 1, colour: 'plain', engine: this.other})])
      const done = arms.filter(a => a.test !== undefined).map(a => `${a.name}: ${a.test.toFixed(1)}`)
      this.say(done.length ? `Macro F1 on the test nodes, ${done.join('; ')} (seed ${this.seed}). Train again: another seed, other numbers.` : 'Stopped.')
    } catch (error) {
      this.say(error.message)
    } finally {
      this.jobs = null
      find('.nm-go').textContent = 'Train again'
    }
  }

  // command shows how the same is trained in a terminal, to be copied.
  command(text) {
    const copy = Object.assign(document.createElement('button'), {type: 'button', textContent: 'Copy'})
    copy.addEventListener('click', () => navigator.clipboard.writeText(text).then(() => (copy.textContent = 'Copied'), () => getSelection().selectAllChildren(copy.previousElementSibling)))
    this.find('.nm-command').hidden = false
    this.find('.nm-command').replaceChildren('Masked, in a terminal: ', Object.assign(document.createElement('code'), {textContent: text}), ' ', copy)
  }

  epoch(arms, arm, event) {
    arm.train.push(event.trainLoss)
    arm.validation.push(event.validationLoss)
    arm.f1.push(event.validationF1 || 0)
    if (event.masked) this.live.epoch(event)
    if (this.frame) return
    this.frame = requestAnimationFrame(() => {
      this.frame = 0
      this.draw(arms)
      if (this.jobs) this.say(`Training with seed ${this.seed}, epoch ${Math.max(...arms.map(a => a.train.length))}.`)
    })
  }

  draw(arms) {
    this.loss.draw(arms.flatMap(a => [{name: `${a.name}, train`, colour: a.colour, values: a.train}, {name: `${a.name}, validation`, colour: a.colour, dashed: true, values: a.validation, best: a.best}]))
    this.f1.draw(arms.map(a => ({name: a.name, colour: a.colour, values: a.f1, best: a.best})))
  }
}

const config = {src: 'nodemask.js', bytes: Number(document.currentScript && document.currentScript.dataset.bytes) || 5.5e6}

function begin() {
  const sheet = new CSSStyleSheet() // a page's policy may forbid style elements
  sheet.replaceSync(style)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  const engine = new Engine(config, () => {}) // whoever asks it something tells what it says
  for (const holder of document.querySelectorAll('[data-nodemask-live]')) new Front(holder, engine)
  new Entries(engine)
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin)
else begin()
