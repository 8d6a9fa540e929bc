// The playground: choose, train, look, compare.

import {dataBeside, Engine, filesFrom} from './engine.js'
import {Chart} from './chart.js'
import {Runs} from './runs.js'
import {Live} from './live.js'

// Milliseconds to rest after an epoch that is shown: without them a trial is over before an eye has seen it.
const watchable = 25

// armOf is what is compared: a keep rate, and how its lines are drawn.
const armOf = rate => ({rate, name: rate < 1 ? `p = ${rate}` : 'nothing masked', colour: rate < 1 ? 'masked' : 'plain', train: [], validation: [], f1: [], ms: [], scores: [], seconds: 0})

class Page {
  constructor() {
    this.find = selector => document.querySelector(selector)
    this.config = JSON.parse(this.find('#nodemask-page').textContent)
    this.engine = new Engine(this.config.module, words => this.status(words))
    this.loss = new Chart(this.find('#loss'), {title: 'Loss', unit: 'cross-entropy'})
    this.f1 = new Chart(this.find('#f1'), {title: 'Macro F1 on validation nodes', unit: 'macro F1 (%)', fixed: [0, 100]})
    this.live = new Live(this.find('#live'))
    this.runs = new Runs(this, this.engine)
    this.jobs = null
    this.own = {} // files of the reader's, by name of the graph
    this.hold()
    this.listen()
    this.choose()
    this.showSaved()
  }

  // showSaved shows the run that came with the page, until one is trained here.
  showSaved() {
    const {saved} = this.config
    if (!saved) return
    const {run, graph, tree} = saved
    const arms = run.arms.map(({cell, train, validation, f1, trained}) => ({...armOf(Number(cell.choices.keep)), train, validation, f1, best: trained.bestEpoch}))
    this.about(graph)
    this.find('#results').hidden = this.find('#saved').hidden = false
    this.draw(arms)
    run.arms.forEach(({trained}, i) => this.outcome(arms[i], trained))
    this.live.open(tree)
    const {masked, classes, train} = run.arms.at(-1)
    this.live.epoch({epoch: train.length, masked, classes})
  }

  // about says what a graph has.
  about(graph) {
    const classes = graph.classes || []
    const trains = graph.features > 0 && classes.length > 1
    const has = `${graph.features.toLocaleString('en')} features, ${classes.length} ${classes.length === 1 ? 'class' : 'classes'}${trains ? '.' : ': it can be looked at, not trained on.'}`
    this.find('#about').textContent = `${graph.nodes.toLocaleString('en')} nodes, ${graph.edges.toLocaleString('en')} edges, ${has}`
  }

  // hold offers the graph that came with the page.
  hold() {
    const {files} = this.config
    if (!files) return
    const title = document.title.replace(/^.* on /, '')
    this.held = 'own:' + title
    const option = new Option(title, this.held)
    this.find('#data').prepend(option)
    option.selected = true
  }

  listen() {
    const {find} = this
    find('#choices').addEventListener('input', () => this.choose())
    // Where JupyterLab serves the page, its forms may not be submitted.
    find('#go').addEventListener('click', event => {
      event.preventDefault()
      if (find('#choices').reportValidity()) this.train(false)
    })
    find('#both').addEventListener('click', () => this.train(true))
    find('#stop').addEventListener('click', () => this.stop())
    find('#data').addEventListener('change', () => this.open())
    find('#files').addEventListener('change', event => this.read([...event.target.files]))
    const drop = find('#drop')
    for (const kind of ['dragover', 'dragleave', 'drop']) {
      drop.addEventListener(kind, event => {
        event.preventDefault()
        drop.classList.toggle('over', kind === 'dragover')
        if (kind === 'drop') this.read([...event.dataTransfer.files])
      })
    }
    // A file that misses the field is not to replace the page.
    window.addEventListener('dragover', event => event.preventDefault())
    window.addEventListener('drop', event => event.preventDefault())
  }

  // say puts words where they belong: what a run does beside its buttons, what a file has where it was dropped.
  say(selector, words, failed) {
    const place = this.find(selector)
    place.textContent = words
    place.classList.toggle('failed', failed)
  }

  status(words, failed = false) {
    this.say('#status', words, failed)
  }

  // choose shows what the sliders say, and which choices the model has.
  choose() {
    const {find} = this
    find('#keep-now').value = Number(find('#keep').value).toFixed(2)
    find('#layers-now').value = find('#layers').value
    find('#train-now').value = `${find('#percent').value} %`
    this.readings()
  }

  // readings offers what the paper leaves open for the model; axes that do not matter in the setting are hidden.
  readings() {
    const {find} = this
    const model = find('#model').value
    const axes = this.config.axes[model] || []
    find('#reading-choices').hidden = axes.length === 0
    if (this.readingsOf !== model) {
      this.readingsOf = model
      find('#reading').replaceChildren(...axes.map((axis, i) => {
        const field = document.createElement('div')
        field.className = 'field'
        const label = Object.assign(document.createElement('label'), {textContent: axis.title, htmlFor: `reading-${i}`})
        const menu = Object.assign(document.createElement('select'), {id: `reading-${i}`})
        menu.append(new Option('as in the tables', ''), ...axis.options.map((option, k) => new Option(option.name, k)))
        field.append(label, menu)
        return field
      }))
    }
    axes.forEach((axis, i) => (find(`#reading-${i}`).parentElement.hidden = Boolean(axis.setting) && axis.setting !== find('#setting').value))
  }

  // cell is what is chosen; choices that were left alone are the paper's.
  cell(keep) {
    const {find} = this
    const choices = {keep: String(keep)}
    const axes = this.config.axes[find('#model').value] || []
    axes.forEach((axis, i) => {
      const menu = find(`#reading-${i}`)
      if (menu.value === '' || menu.closest('.field[hidden]') || (axis.masked && keep === 1) || (axis.plain && keep < 1)) return
      Object.assign(choices, axis.options[menu.value].choices)
    })
    for (const input of document.querySelectorAll('[data-axis]')) {
      if (input.value !== '' && !input.closest('[hidden]')) choices[input.dataset.axis] = input.value
    }
    return {data: find('#data').value, model: find('#model').value, setting: find('#setting').value, train: Number(find('#percent').value), choices}
  }

  busy(on) {
    const {find} = this
    this.busyNow = on
    for (const id of ['#go', '#both']) find(id).disabled = on
    find('#stop').disabled = !on
    find('#progress').hidden = !on
  }

  async open() {
    const {find} = this
    const name = find('#data').value
    this.live.host = null
    try {
      const {graph} = await this.engine.ask({kind: 'open', data: name}, {files: await this.filesOf(name, true)}).done
      this.about(graph)
      const {tree} = await this.engine.ask({kind: 'tree', data: name, root: graph.start, hops: 2}).done
      if (find('#data').value !== name) return false // another one was chosen meanwhile
      this.live.open(tree)
      this.opened = name
      return true
    } catch (error) {
      this.status(error.message, true)
      return false
    }
  }

  // filesOf are the files of a graph that does not come with the program; of the reader's own not again, if that has read them.
  async filesOf(name, read = false) {
    if (name === this.held) return filesFrom(this.config.files)
    if ((this.config.data || []).includes(name)) return dataBeside(name)
    return read ? undefined : this.own[name]
  }

  // read takes the user's own files. They stay in the page.
  async read(files) {
    if (files.length === 0) return
    const {find} = this
    const limit = 500e6
    const total = files.reduce((sum, f) => sum + f.size, 0)
    const say = (words, failed = false) => this.say('#read', words, failed)
    if (total > limit) return say(`${Math.round(total / 1e6)} MB: a page can read up to ${limit / 1e6} MB; nodemask train reads more.`, true)
    say('Reading …')
    try {
      const all = await Promise.all(files.map(async f => ({name: f.name, bytes: await f.arrayBuffer()})))
      const name = 'own:' + (files.length === 1 ? files[0].name.replace(/\.[^.]*$/, '') : 'my-graph')
      const {graph} = await this.engine.ask({kind: 'open', data: name}, {files: all}).done
      this.own[name] = all
      const menu = find('#data')
      let option = [...menu.options].find(o => o.value === name)
      if (!option) menu.append((option = new Option('', name)))
      option.textContent = `${graph.name} (yours)`
      menu.value = name
      say('')
      await this.open()
    } catch (error) {
      say(error.message, true)
    } finally {
      find('#files').value = ''
    }
  }

  // train runs trials with the keep rate that is chosen, or each seed twice: without masking first.
  async train(both) {
    const {find} = this
    if (this.busyNow) return
    const keep = Number(find('#keep').value)
    const whole = (id, most) => Math.min(most, Math.max(1, Math.floor(Number(find(id).value)) || 1))
    const seed = whole('#seed', 1e6)
    const trials = whole('#trials', 50)
    const rates = both ? [1, keep < 1 ? keep : 0.5] : [keep]
    const arms = rates.map(armOf)
    const left = []
    for (let i = 0; i < trials; i++) for (const arm of arms) left.push({arm, seed: seed + i, cell: this.cell(arm.rate)})
    const total = left.length
    this.busy(true)
    this.stopped = false
    this.jobs = new Set()
    this.helpers = []
    const began = performance.now()
    try {
      if (this.opened !== find('#data').value && !(await this.open())) return
      find('#results').hidden = false
      find('#saved').hidden = true
      find('#outcome').replaceChildren()
      find('#confusion').replaceChildren()
      const work = async (engine, shown) => {
        while (left.length && !this.stopped) await this.trial(engine, left.shift(), {arms, shown, trials, total})
      }
      await Promise.all([work(this.engine, true), ...(trials > 1 ? this.help(total - 1).map(async helper => {
        const engine = await helper
        if (engine) await work(engine, false)
      }) : [])])
      const done = arms.reduce((sum, arm) => sum + arm.scores.length, 0)
      if (this.stopped) this.status(trials > 1 ? `Stopped: ${done} of ${total} trials are kept.` : `Stopped after ${arms.at(-1).train.length || arms[0].train.length} epochs. A trial that was stopped is not kept.`)
      else {
        this.status(trials > 1 ? `Done: ${total} trials in ${((performance.now() - began) / 1000).toFixed(1)} s, ${1 + this.helpers.length} at once.${this.lost ? ` No more at once: ${this.lost}` : ''}` : `Done in ${arms.at(-1).seconds.toFixed(1)} s: macro F1 ${arms.at(-1).scores[0].toFixed(2)} on the test nodes.`)
      }
    } catch (error) {
      this.stopped = true
      for (const job of this.jobs) job.stop()
      this.status(error.message, true)
    } finally {
      for (const helper of this.helpers) helper.close()
      this.helpers = this.jobs = null
      this.busy(false)
    }
  }

  // help starts programs beside the first one, as many as there are processors to spare and trials to run, and returns promises of
  // them with the graph open; of nothing, where one does not start.
  help(trials) {
    this.lost = ''
    const most = Math.min((navigator.hardwareConcurrency || 2) - 1, 3, trials)
    const data = this.find('#data').value
    return Array.from({length: Math.max(0, most)}, async () => {
      const helper = new Engine(this.config.module, () => {})
      try {
        await helper.ask({kind: 'open', data}, {files: await this.filesOf(data)}).done
      } catch (error) {
        this.lost = error.message
        helper.close()
        return null
      }
      if (!this.helpers) return helper.close() // all is over
      this.helpers.push(helper)
      return helper
    })
  }

  // trial runs one. Those that are not shown run as fast as they can.
  async trial(engine, {arm, seed, cell}, {arms, shown, trials, total}) {
    const {find} = this
    if (shown) Object.assign(arm, {train: [], validation: [], f1: [], ms: [], best: undefined})
    const watch = shown && find('#watch').checked
    const job = engine.ask({kind: 'train', cell, seed, watch, pace: !shown ? 0 : find('#slow').checked ? 250 : watch ? watchable : 0}, {epoch: event => {
      if (shown) this.epoch(arms, arm, event, trials > 1 ? `${arms.reduce((sum, a) => sum + a.scores.length, 0)} of ${total} trials done; seed ${seed}, ` : '')
    }})
    this.jobs.add(job)
    const event = await job.done
    this.jobs.delete(job)
    if (event.kind === 'stopped') return
    arm.scores.push(event.trained.f1)
    arm.seconds = event.trained.seconds
    if (shown) {
      arm.best = event.trained.bestEpoch
      this.draw(arms)
    }
    if (trials > 1) this.outcomes(arms, event.trained, arm)
    else this.outcome(arm, event.trained)
    await this.runs.add(event.trained.record)
  }

  stop() {
    this.stopped = true
    if (!this.jobs) return this.status('')
    for (const job of this.jobs) job.stop()
  }

  epoch(arms, arm, event, before) {
    arm.train.push(event.trainLoss)
    arm.validation.push(event.validationLoss)
    arm.f1.push(event.validationF1 || 0)
    arm.ms.push(event.ms)
    this.live.epoch(event)
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0
        this.draw(arms)
        const ms = [...arm.ms].sort((a, b) => a - b)[arm.ms.length >> 1]
        if (this.jobs && this.jobs.size) this.status(`Training, ${before}${arm.name}: epoch ${arm.train.length}, ${ms.toFixed(0)} ms an epoch.`)
      })
    }
  }

  draw(arms) {
    this.loss.draw(arms.flatMap(a => [{name: `${a.name}, train`, colour: a.colour, values: a.train}, {name: `${a.name}, validation`, colour: a.colour, dashed: true, values: a.validation, best: a.best}]))
    this.f1.draw(arms.map(a => ({name: a.name, colour: a.colour, values: a.f1, best: a.best})))
    this.find('#legend').replaceChildren(...arms.map(a => {
      const item = document.createElement('li')
      item.append(Object.assign(document.createElement('i'), {className: a.colour}), a.name)
      return item
    }))
  }

  // outcomes says what each arm's trials scored so far.
  outcomes(arms, trained, of) {
    of.label = trained.label
    this.find('#outcome').replaceChildren(...arms.filter(a => a.label).map(({label, scores}) => {
      const mean = scores.reduce((sum, f1) => sum + f1, 0) / scores.length
      const sd = Math.sqrt(scores.reduce((sum, f1) => sum + (f1 - mean) ** 2, 0) / (scores.length - 1))
      const line = document.createElement('p')
      line.append(`${label}: macro F1 `, Object.assign(document.createElement('strong'), {textContent: mean.toFixed(2)}), ` ${scores.length > 1 ? `± ${sd.toFixed(2)} ` : ''}on the test nodes, ${scores.length} ${scores.length === 1 ? 'trial' : 'trials'}.`)
      return line
    }))
  }

  // outcome says what a trial scored, and where it was wrong.
  outcome(arm, trained) {
    const {find} = this
    const recorded = this.config.recorded[trained.key]
    const line = document.createElement('p')
    const strong = document.createElement('strong')
    strong.textContent = trained.f1.toFixed(2)
    line.append(`${trained.label}: macro F1 `, strong, ` on the test nodes, best epoch ${trained.bestEpoch} of ${trained.epochs}.`)
    if (recorded) line.append(` Recorded: ${recorded.mean.toFixed(2)} ± ${recorded.sd.toFixed(2)} over ${recorded.n} trials.`)
    if (trained.published !== undefined) line.append(` The paper: ${trained.published.toFixed(2)}.`)
    find('#outcome').append(line)
    const terminal = document.createElement('details')
    terminal.append(Object.assign(document.createElement('summary'), {textContent: 'The same in a terminal'}), Object.assign(document.createElement('code'), {textContent: trained.command}))
    if (trained.command) find('#outcome').append(terminal)
    this.wrong(arm, trained)
  }

  // wrong shows which classes a trial took for which.
  wrong(arm, trained) {
    const {find} = this
    find('#confusion').append(confusion(arm.name, trained))
    find('#wrong').hidden = false
  }
}

// confusion is a table of test nodes: a row for each class, a column for each that was predicted.
function confusion(name, {confusion: counts, classes}) {
  const table = document.createElement('table')
  const caption = table.createCaption()
  caption.textContent = name
  const short = classes.map((c, i) => `${i + 1} ${c.length > 18 ? c.slice(0, 17) + '…' : c}`)
  const head = table.createTHead().insertRow()
  head.append(Object.assign(document.createElement('th'), {textContent: 'class', scope: 'col'}), ...classes.map((c, i) => Object.assign(document.createElement('th'), {textContent: i + 1, title: c, scope: 'col'})))
  const body = table.createTBody()
  const most = Math.max(1, ...counts.flat())
  counts.forEach((row, i) => {
    const tr = body.insertRow()
    tr.append(Object.assign(document.createElement('th'), {textContent: short[i], title: classes[i], scope: 'row'}))
    row.forEach((n, j) => {
      const td = tr.insertCell()
      td.textContent = n || '·'
      td.className = i === j ? 'right' : n ? 'wrong' : 'zero'
      td.style.setProperty('--share', (Math.sqrt(n / most) * 100).toFixed(0) + '%')
    })
  })
  const scroll = document.createElement('div')
  scroll.className = 'scroll wide'
  scroll.append(table)
  return scroll
}

window.nodemaskPlayground = new Page()
