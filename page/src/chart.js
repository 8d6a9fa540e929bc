// Lines over epochs that grow while a model trains.

const space = 'http://www.w3.org/2000/svg'
const height = 240
const edge = {left: 52, right: 12, top: 10, bottom: 34}

function make(tag, attributes, text) {
  const element = document.createElementNS(space, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  if (text !== undefined) element.textContent = text
  return element
}

// steps are round numbers from low to high, some five of them.
export function steps(low, high) {
  const rough = (high - low) / 4 || 1
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough)
  const all = []
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) all.push(Number(v.toPrecision(10)))
  return all
}

// Chart draws series of numbers, one an epoch: {name, colour, dashed, values, best}.
export class Chart {
  /** @param {Element} host @param {{title: string, unit: string, fixed?: number[]}} options */
  constructor(host, {title, unit, fixed}) {
    this.fixed = fixed
    this.host = host
    this.series = []
    this.svg = make('svg', {role: 'img', class: 'chart'})
    this.title = title
    this.label = make('title', {}, title)
    this.grid = make('g', {class: 'grid'})
    this.lines = make('g', {class: 'lines'})
    this.epochs = make('text', {y: height - 4, class: 'axis', 'text-anchor': 'middle'}, 'epoch')
    this.svg.append(this.label, this.grid, this.lines, this.epochs,
      make('text', {x: 12, y: height / 2, class: 'axis', 'text-anchor': 'middle', transform: `rotate(-90 12 ${height / 2})`}, unit))
    host.append(this.svg)
    this.draw([])
    new ResizeObserver(() => this.width !== this.room() && this.draw(this.series)).observe(host)
  }

  // room is how wide the drawing is: as its place, so that letters keep their size.
  room() {
    return Math.min(640, Math.max(280, this.host.clientWidth || 640))
  }

  draw(series) {
    const width = (this.width = this.room())
    this.series = series
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    this.epochs.setAttribute('x', String((width + edge.left) / 2))
    const all = series.flatMap(s => s.values).filter(Number.isFinite)
    const epochs = Math.max(10, ...series.map(s => s.values.length))
    let [low, high] = this.fixed || [0, 1]
    if (all.length && !this.fixed) [low, high] = [Math.min(0, ...all), Math.max(...all) * 1.05]
    const x = epoch => edge.left + ((epoch - 1) / Math.max(1, epochs - 1)) * (width - edge.left - edge.right)
    const y = v => height - edge.bottom - ((v - low) / (high - low || 1)) * (height - edge.top - edge.bottom)
    this.grid.replaceChildren()
    for (const v of steps(low, high)) {
      this.grid.append(make('line', {x1: edge.left, x2: width - edge.right, y1: y(v), y2: y(v)}),
        make('text', {x: edge.left - 6, y: y(v) + 4, 'text-anchor': 'end'}, String(v)))
    }
    for (const v of steps(1, epochs)) if (Number.isInteger(v)) this.grid.append(make('text', {x: x(v), y: height - edge.bottom + 16, 'text-anchor': 'middle'}, String(v)))
    this.lines.replaceChildren()
    for (const s of series) {
      const points = s.values.map((v, i) => (Number.isFinite(v) ? `${x(i + 1).toFixed(1)},${y(v).toFixed(1)}` : '')).filter(Boolean)
      this.lines.append(make('polyline', {points: points.join(' '), class: `line ${s.colour}${s.dashed ? ' dashed' : ''}`}))
      if (s.best && Number.isFinite(s.values[s.best - 1])) this.lines.append(make('circle', {cx: x(s.best), cy: y(s.values[s.best - 1]), r: 4.5, class: `best ${s.colour}`}))
    }
    this.label.textContent = series.length ? `${this.title}: ` + series.map(s => `${s.name} ${Number.isFinite(s.values.at(-1)) ? s.values.at(-1).toFixed(3) : '–'}`).join(', ') : this.title
  }
}
