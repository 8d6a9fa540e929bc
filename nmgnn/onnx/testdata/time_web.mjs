// Times exported models in ONNX Runtime's WebAssembly, on one thread: the models that TestModelsTrainedOnCora leaves.
//
//     NODEMASK_ONNX=/tmp/onnx/models go test ./nmgnn/onnx -run Cora
//     cp nmgnn/onnx/testdata/time_web.mjs /tmp/onnx && cd /tmp/onnx && npm install onnxruntime-web@1.30.0
//     node time_web.mjs models/cora

import * as ort from 'onnxruntime-web'
import {readFileSync} from 'node:fs'

ort.env.wasm.numThreads = 1
const folder = process.argv[2]
for (const [name, {file, graphs}] of Object.entries(JSON.parse(readFileSync(`${folder}/models.json`)))) {
  const g = graphs.at(-1)
  const x = new Float32Array(g.nodes * g.width)
  g.rows.forEach((row, i) => (x[row * g.width + g.columns[i]] = g.values[i]))
  const edges = BigInt64Array.from([...g.edges[0], ...g.edges[1]].map(BigInt))
  const feeds = {x: new ort.Tensor('float32', x, [g.nodes, g.width]), edge_index: new ort.Tensor('int64', edges, [2, g.edges[0].length])}
  const session = await ort.InferenceSession.create(readFileSync(`${folder}/${file}`), {executionProviders: ['wasm']})
  const taken = []
  let logits
  for (let i = 0; i < 21; i++) {
    const begin = performance.now()
    logits = (await session.run(feeds)).logits.data
    taken.push(performance.now() - begin)
  }
  const median = taken.slice(1).sort((a, b) => a - b)[10]
  const difference = logits.reduce((most, l, i) => Math.max(most, Math.abs(l - g.logits[i])), 0)
  console.log(`${name}: ${median.toFixed(1)} ms, greatest difference ${difference.toExponential(1)}`)
}
