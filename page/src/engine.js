// The program that trains: nodemask compiled to WebAssembly, in a worker of its own so that the page never waits for it.

export const bytesOf = text => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text)
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

// What the worker does before the program does the rest. It is sent the program's bytes, or where they are: then it compiles what
// has come while the rest comes.
const bootstrap = `
onmessage = async ({data}) => {
  const say = (kind, more) => postMessage(JSON.stringify({id: 0, kind, ...more}))
  try {
    const packed = typeof data === 'string' ? await fetch(data) : new Response(data)
    if (!packed.ok) throw new Error(data + ': ' + packed.status)
    let loaded = 0
    const count = new TransformStream({transform(chunk, out) {
      say('loaded', {loaded: loaded += chunk.length})
      out.enqueue(chunk)
    }})
    const program = new Response(packed.body.pipeThrough(count).pipeThrough(new DecompressionStream('gzip')), {headers: {'Content-Type': 'application/wasm'}})
    const go = new Go()
    const {instance} = await WebAssembly.instantiateStreaming(program, go.importObject)
    await go.run(instance)
    say('ended', {error: ''})
  } catch (error) {
    say('ended', {error: String(error)})
  }
}`

// Beside a page that a server gives: what the script has that the page loads otherwise.
const served = {exec: 'nodemask-exec.js', program: 'nodemask.wasm.packed'}

// loaded waits for a script beside the page.
export const loaded = (src, what) => new Promise((resolve, reject) => {
  const script = document.createElement('script')
  script.src = src
  script.onload = resolve
  script.onerror = () => reject(new Error(`${what} was not found: ${src} has to lie beside this page.`))
  document.head.append(script)
})

// dataBeside returns the files of a data set that lies in a script beside the page.
export async function dataBeside(name) {
  if (!window.nodemaskData || !window.nodemaskData[name]) await loaded(`data-${name}.js`, 'The data set')
  return filesFrom(window.nodemaskData[name])
}

// filesFrom are files as the program takes them.
export const filesFrom = held => held.map(f => ({name: f.name, bytes: bytesOf(f.base64).buffer}))

// Engine starts the program when it is first asked something, and again if it has ended.
export class Engine {
  // config says where the program is: {src} is a script beside the page, which sets window.nodemaskModule; without it the page holds it.
  // say is told what the program is doing while nobody has asked it anything: words for a reader.
  constructor(config, say) {
    this.config = config
    this.say = say
    this.requests = new Map()
    this.last = 0
  }

  // start returns a promise of the running program.
  start() {
    if (!this.running) {
      this.running = this.load().catch(error => {
        this.running = null
        throw error
      })
    }
    return this.running
  }

  async load() {
    if (typeof WebAssembly === 'undefined' || typeof DecompressionStream === 'undefined') {
      throw new Error('This browser is too old to train: it needs WebAssembly and DecompressionStream (Chrome 80, Firefox 113, Safari 16.4 or newer).')
    }
    const megabytes = n => (n / 1e6).toFixed(1)
    this.say(`Loading the program (${megabytes(this.config.bytes)} MB) …`)
    const {exec, program} = await this.source()
    const worker = new Worker(URL.createObjectURL(new Blob([exec, bootstrap], {type: 'text/javascript'})))
    await new Promise((resolve, reject) => {
      worker.onerror = event => reject(new Error(`The program did not start: ${event.message || 'the browser does not say why'}.`))
      worker.onmessage = ({data}) => {
        const event = JSON.parse(data)
        if (event.kind === 'loaded') this.say(event.loaded < this.config.bytes ? `Loading the program (${megabytes(event.loaded)} of ${megabytes(this.config.bytes)} MB) …` : 'Starting the program …')
        else if (event.kind === 'ready') resolve()
        else reject(new Error(`The program did not start: ${event.error}`))
      }
      worker.postMessage(program, program instanceof Uint8Array ? [program.buffer] : [])
    })
    worker.onerror = event => this.ended(event.message)
    worker.onmessage = ({data}) => this.answer(JSON.parse(data))
    this.worker = worker
    this.say('')
    return worker
  }

  // source is what a worker starts with: the Go tools' script, and the program's bytes or, where a server has them, their address.
  async source() {
    if (this.config.src && location.protocol.startsWith('http')) {
      try {
        const answer = await fetch(served.exec)
        if (answer.ok) return {exec: await answer.text(), program: new URL(served.program, location.href).href}
      } catch {
        // the script beside the page has both
      }
    }
    const {exec, gzip} = await this.module()
    return {exec, program: bytesOf(gzip)}
  }

  async module() {
    const held = id => document.getElementById(id)
    if (!this.config.src) return {exec: held('nodemask-exec').textContent, gzip: held('nodemask-module').textContent}
    if (!window.nodemaskModule) await loaded(this.config.src, 'The program')
    return window.nodemaskModule
  }

  // ask sends a request and returns {id, done, stop}: a promise of its last answer, and how to end it early. Epochs go to epoch.
  /** @param {object} request @param {{files?: object[], epoch?: (event: object) => void}} [more] */
  ask(request, {files, epoch} = {}) {
    const id = ++this.last
    const done = this.start().then(worker => new Promise((resolve, reject) => {
      this.requests.set(id, {resolve, reject, epoch})
      worker.postMessage({request: JSON.stringify({...request, id}), files})
    }))
    return {id, done, stop: () => this.running && this.running.then(worker => worker.postMessage({request: JSON.stringify({id: ++this.last, kind: 'stop', stop: id})}), () => {})}
  }

  answer(event) {
    if (event.kind === 'ended') return this.ended(event.error)
    const request = this.requests.get(event.id)
    if (!request) return
    if (event.kind === 'epoch') {
      if (request.epoch) request.epoch(event)
      return
    }
    this.requests.delete(event.id)
    if (event.kind === 'failed') request.reject(new Error(event.error))
    else request.resolve(event)
  }

  // close ends the program, which nobody waits for.
  close() {
    if (this.worker) this.worker.terminate()
    this.worker = this.running = null
  }

  // ended says to all who wait that nothing will come any more. The next request starts the program anew.
  ended(why) {
    this.close()
    const requests = [...this.requests.values()]
    this.requests.clear()
    for (const {reject} of requests) reject(new Error(`The program has ended${why ? ` (${why})` : ''}. It starts again with the next trial; the runs below are kept.`))
  }
}
