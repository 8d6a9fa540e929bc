// Makes the drawing of a specification curve interactive. The page brings the drawing as an image and the readings as JSON.
(() => {
  const name = 'nodemask-specification'

  const number = v => (Math.abs(v) < 0.005 ? '0.00' : (v > 0 ? '+' : '') + v.toFixed(2)).replace('-', '−')
  const plain = v => v.toFixed(2).replace('-', '−')
  const median = values => {
    const sorted = [...values].sort((a, b) => a - b), n = sorted.length
    return sorted[(n - 1) >> 1] / 2 + sorted[n >> 1] / 2
  }

  // start draws a curve once it is nearly in sight, or asked for: a page may have many, of thousands of parts each.
  function start(host) {
    if (host.shadowRoot) return
    const image = host.querySelector('img'), picture = image.src
    // The shadow hides the image, and keeps the page's styles and ids apart from ours.
    const shadow = host.attachShadow({mode: 'open'})
    const room = element('div', {style: `min-height:${image.getAttribute('height')}px`}, image.alt)
    shadow.append(room)
    host.style.overflowX = 'visible'
    image.remove() // else the page waits for it
    const draw = () => {
      near.disconnect()
      removeEventListener('beforeprint', draw)
      delete host.nodemask
      const data = JSON.parse(host.querySelector('script[type="application/json"]').textContent)
      const bytes = Uint8Array.from(atob(picture.split(',')[1]), c => c.charCodeAt(0))
      const svg = document.importNode(new DOMParser().parseFromString(new TextDecoder().decode(bytes), 'image/svg+xml').documentElement, true)
      room.remove()
      try {
        return (host.nodemask = new Curve(host, shadow, svg, data).hook())
      } catch (error) {
        host.prepend(image)
        shadow.replaceChildren(document.createElement('slot'))
        throw error
      }
    }
    const near = new IntersectionObserver(seen => seen.some(s => s.isIntersecting) && draw(), {rootMargin: '800px'})
    near.observe(host)
    addEventListener('beforeprint', draw)
    Object.defineProperty(host, 'nodemask', {configurable: true, get: draw})
    // Keys are for the readings, not for the notebook round them.
    host.setAttribute('data-lm-suppress-shortcuts', 'true')
    host.addEventListener('keydown', event => event.stopPropagation())
  }

  const element = (tag, attributes = {}, ...children) => {
    const e = document.createElement(tag)
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
    e.append(...children)
    return e
  }

  const drawn = (tag, attributes) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag)
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
    return e
  }

  class Curve {
    constructor(host, shadow, svg, data) {
      Object.assign(this, data)
      this.svg = svg
      this.chosen = this.axes.map(() => -1) // option of each axis; -1: all
      this.selected = -1 // a reading
      const style = element('style')
      style.textContent = this.style
      for (const old of svg.querySelectorAll('style')) old.remove()
      svg.setAttribute('role', 'group')
      svg.removeAttribute('style')
      // Title and summary are text of the page here, which does not scroll out of sight.
      const {width, height} = svg.viewBox.baseVal
      svg.setAttribute('viewBox', `0 ${this.crop} ${width} ${height - this.crop}`)
      svg.setAttribute('height', height - this.crop)
      this.groups = []
      for (const g of svg.querySelectorAll('.reading')) this.groups[+g.dataset.i] = g
      svg.querySelector('.readings').setAttribute('aria-hidden', 'true')

      this.count = element('p', {class: 'count', role: 'status'})
      this.clear = element('button', {type: 'button', hidden: ''}, 'Show all readings')
      this.clear.addEventListener('click', () => {
        this.chosen.fill(-1)
        this.update()
        this.plot.focus()
      })
      const hint = element('p', {class: 'hint'}, 'Point at a reading, or use the arrow keys. Click an option to see its readings alone.')
      this.sideways = element('p', {class: 'hint', hidden: ''}, 'It is wider than this screen: scroll it sideways.')
      this.card = element('div', {class: 'card', hidden: '', 'aria-hidden': 'true'})
      this.scroll = element('div', {class: 'scroll'}, svg, this.card)
      this.section = element('section', {}, element('p', {class: 'title'}, this.title), element('div', {class: 'bar'}, this.count, this.clear), hint, this.sideways, this.scroll)
      this.addOptions()
      this.addPlot()
      shadow.append(style, this.section)
      this.followTheme()
      this.drawn = {width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height, right: this.right}
      this.update()
      this.fit()
      new ResizeObserver(() => this.fit()).observe(host)
    }

    // fit makes the curve as wide as its place, but never too narrow to read: then it scrolls. Names keep their size.
    fit() {
      const {drawn, left, margin} = this
      const least = left + 300 + drawn.width - drawn.right
      const width = Math.round(Math.max(Math.min(this.scroll.clientWidth || drawn.width, 1400), least)), more = width - drawn.width
      this.sideways.hidden = !this.scroll.clientWidth || width <= this.scroll.clientWidth
      if (drawn.right + more === this.right) return
      this.right = drawn.right + more
      this.svg.setAttribute('viewBox', `0 ${this.crop} ${width} ${drawn.height}`)
      this.svg.setAttribute('width', width)
      const stretch = (from, to) => `translate(${from}) scale(${(to + more - from) / (to - from)},1) translate(${-from})`
      for (const path of this.svg.querySelectorAll('.grid')) path.setAttribute('transform', stretch(left, drawn.right))
      for (const path of this.svg.querySelectorAll('.rule')) path.setAttribute('transform', stretch(margin, drawn.width - margin))
      for (const text of this.svg.querySelectorAll('.median, .medians')) text.setAttribute('transform', `translate(${more})`)
      this.plot.setAttribute('width', this.right - left)
      this.update()
    }

    // addOptions makes buttons of the options' names.
    addOptions() {
      this.options = [...this.svg.querySelectorAll('.option')]
      const seen = new Set()
      for (const text of this.options) {
        const axis = +text.dataset.axis, option = +text.dataset.option, key = axis + ' ' + option
        text.addEventListener('click', () => this.choose(axis, option))
        if (seen.has(key)) { // the second line of a name
          text.setAttribute('aria-hidden', 'true')
          continue
        }
        seen.add(key)
        text.setAttribute('tabindex', '0')
        text.setAttribute('role', 'button')
        text.setAttribute('aria-label', `${this.axes[axis].name}: ${this.axes[axis].options[option]}`)
        text.addEventListener('keydown', event => {
          if (event.key !== 'Enter' && event.key !== ' ') return
          event.preventDefault()
          this.choose(axis, option)
        })
      }
    }

    // addPlot adds what readings are pointed at on. To a screen reader it is a slider over them.
    addPlot() {
      this.cursor = drawn('path', {class: 'cursor', fill: 'none', d: ''})
      this.plot = drawn('rect', {class: 'plot', tabindex: 0, role: 'slider', 'aria-label': 'Reading, by ascending effect', 'aria-valuemin': 1,
        x: this.left, y: this.top, width: this.right - this.left, height: this.bottom - this.top})
      this.svg.append(this.cursor, this.plot)
      const point = event => {
        const box = this.plot.getBoundingClientRect()
        const k = Math.floor((event.clientX - box.left) / box.width * this.shown.length)
        this.select(this.shown[Math.min(Math.max(k, 0), this.shown.length - 1)] ?? -1)
      }
      this.plot.addEventListener('pointermove', point)
      this.plot.addEventListener('pointerdown', point)
      this.plot.addEventListener('pointerleave', event => {
        if (event.pointerType === 'mouse') this.select(-1)
      })
      this.plot.addEventListener('blur', () => this.select(-1))
      this.plot.addEventListener('keydown', event => {
        const n = this.shown.length, at = this.shown.indexOf(this.selected)
        const to = {
          ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at < 0 ? n - 1 : at - 1, ArrowDown: at < 0 ? n - 1 : at - 1,
          PageUp: at + 10, PageDown: at - 10, Home: 0, End: n - 1,
        }[event.key]
        if (event.key === 'Escape') this.select(-1)
        else if (to === undefined || n === 0) return
        else this.select(this.shown[Math.min(Math.max(to, 0), n - 1)])
        event.preventDefault()
      })
    }

    // followTheme follows JupyterLab's, where there is one, and otherwise the reader's.
    followTheme() {
      const dark = window.matchMedia('(prefers-color-scheme: dark)')
      const follow = () => {
        const lab = document.body.getAttribute('data-jp-theme-light')
        this.section.classList.toggle('dark', lab === null ? dark.matches : lab === 'false')
      }
      follow()
      dark.addEventListener('change', follow)
      new MutationObserver(follow).observe(document.body, {attributes: true, attributeFilter: ['data-jp-theme-light']})
    }

    // choose leaves the readings with an option of an axis, or frees the axis if they are what is shown.
    choose(axis, option) {
      this.chosen[axis] = this.chosen[axis] === option ? -1 : option
      this.update()
    }

    // update shows the readings that have all chosen options.
    update() {
      this.shown = this.readings.flatMap((r, i) => (this.chosen.every((option, axis) => option < 0 || r.choices[axis] === option) ? [i] : []))
      const n = this.shown.length, all = this.readings.length, spacing = (this.right - this.left) / Math.max(n, 1)
      for (const g of this.groups) g.classList.add('out')
      this.shown.forEach((i, k) => {
        this.groups[i].classList.remove('out')
        this.groups[i].setAttribute('transform', `translate(${this.x(k).toFixed(2)})`)
      })
      const radius = spacing => Math.min(Math.max(0.42 * spacing, 1.7), 4)
      this.svg.style.setProperty('--bar', `${Math.min(Math.max(0.62 * spacing, 0.9), 7)}px`)
      this.svg.style.setProperty('--grow', radius(spacing) / radius((this.drawn.right - this.left) / all))

      const effects = this.shown.map(i => this.readings[i].effect)
      const share = Math.round(100 * effects.filter(e => e > 0).length / n)
      this.count.textContent = (n === all ? `${n} readings` : `${n} of ${all} readings`) + (n > 0 ? `: median ${number(median(effects))}, ${share} % above 0` : '')
      this.clear.hidden = n === all
      const shown = this.shown.map(i => this.readings[i])
      const counts = [r => r.low > 0, r => r.low <= 0 && r.high >= 0, r => r.high < 0, r => r.marked].map(is => shown.filter(is).length)
      this.svg.querySelectorAll('.legend').forEach((text, k) => { text.textContent = text.textContent.replace(/\d+$/, counts[k]) })
      for (const text of this.options) {
        const on = this.chosen[+text.dataset.axis] === +text.dataset.option
        text.classList.toggle('chosen', on)
        if (text.hasAttribute('role')) text.setAttribute('aria-pressed', String(on))
      }
      for (const text of this.svg.querySelectorAll('.median')) {
        const of = this.shown.filter(i => this.readings[i].choices[+text.dataset.axis] === +text.dataset.option).map(i => this.readings[i].effect)
        text.textContent = of.length > 0 ? number(median(of)) : '–'
      }
      this.plot.setAttribute('aria-valuemax', n)
      this.select(this.shown.includes(this.selected) ? this.selected : -1)
    }

    x(k) { return this.left + (this.right - this.left) * (k + 0.5) / this.shown.length }

    words(i) {
      const r = this.readings[i]
      const side = r.low > 0 ? 'interval above 0' : r.high < 0 ? 'interval below 0' : 'interval includes 0'
      return `${number(r.effect)} [${plain(r.low)}, ${plain(r.high)}], ${side}` + (r.marked ? `, ${this.mark}` : '') + (r.text ? `, ${r.text}` : '') +
        '. ' + this.axes.map((a, k) => `${a.name}: ${a.options[r.choices[k]]}`).join('; ') + '.'
    }

    // select tells about a reading; -1: about none.
    select(i) {
      if (this.selected >= 0) this.groups[this.selected].classList.remove('on')
      this.selected = i
      this.card.hidden = i < 0
      const k = this.shown.indexOf(i)
      this.plot.setAttribute('aria-valuenow', k + 1)
      this.plot.setAttribute('aria-valuetext', i < 0 ? 'none' : `Reading ${k + 1} of ${this.shown.length}: ${this.words(i)}`)
      this.cursor.setAttribute('d', i < 0 ? '' : `M${this.x(k)},${this.top}V${this.bottom}`)
      if (i < 0) return
      this.groups[i].classList.add('on')
      const r = this.readings[i], list = element('dl')
      this.axes.forEach((a, axis) => list.append(element('dt', {}, a.name), element('dd', {}, a.options[r.choices[axis]])))
      this.card.replaceChildren(element('p', {class: 'effect'}, `${number(r.effect)} [${plain(r.low)}, ${plain(r.high)}]`),
        element('p', {class: 'soft'}, `reading ${k + 1} of ${this.shown.length}` + (r.marked ? ', ' + this.mark : '')))
      if (r.text) this.card.append(element('p', {}, r.text))
      this.card.append(list)
      // Beside the reading, on the side with more room, inside of what is scrolled into view.
      const box = this.svg.getBoundingClientRect(), scale = box.width / this.svg.viewBox.baseVal.width
      const at = this.x(k) * scale, from = this.scroll.scrollLeft, to = from + this.scroll.clientWidth, width = this.card.offsetWidth
      const beside = to - at > width + 24 ? at + 14 : at - width - 14
      this.card.style.left = `${Math.max(Math.min(beside, to - width - 4), from + 4)}px`
      this.card.style.top = `${(this.top - this.crop) * scale}px`
    }

    hook() {
      return {
        shown: () => [...this.shown],
        choose: (axis, option) => this.choose(axis, option),
        select: i => this.select(i),
        words: () => (this.selected < 0 ? '' : this.words(this.selected)),
      }
    }
  }

  const own = document.currentScript && document.currentScript.closest('.' + name)
  for (const host of own ? [own] : document.querySelectorAll('.' + name)) start(host)
})()
