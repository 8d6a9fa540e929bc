// Checks the types of src/ and bundles it and the explorer's drawing into playground.js and front.js, which Go embeds. It uses what the explorer has installed.

import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {readFileSync, readdirSync} from 'node:fs'
import {createRequire} from 'node:module'

const installed = createRequire(new URL('../aggtree/explorer/package.json', import.meta.url))
const {build} = installed('esbuild')
execFileSync(process.execPath, [installed.resolve('typescript/bin/tsc'), '-p', '../aggtree/explorer'], {stdio: 'inherit'})
const text = {name: 'text', setup(b) {
  b.onLoad({filter: /\.(css|html)$/}, ({path}) => ({contents: readFileSync(path, 'utf8').replace(/\n\s*/g, ''), loader: 'text'}))
}}
const licence = readFileSync('../aggtree/explorer/LICENSE.d3', 'utf8').trim().split('\n').map(line => ' * ' + line).join('\n').replace(/ +$/gm, '')

// By this a test of Go's, which has no node, sees whether the bundle was built from these sources.
const hash = createHash('sha256')
for (const folder of ['src', '../aggtree/explorer/src']) {
  for (const name of readdirSync(folder).sort()) if (name !== 'page.css' || folder !== 'src') hash.update(name).update('\0').update(readFileSync(folder + '/' + name)).update('\0')
}

await build({
  entryPoints: {playground: 'src/main.js', front: 'src/front.js'},
  outdir: '.',
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2020',
  charset: 'ascii',
  legalComments: 'none',
  banner: {js: `/*!\n * nodemask's pages that train; built from page/src and aggtree/explorer/src, SHA-256 ${hash.digest('hex')}.\n * It contains parts of d3-hierarchy and d3-selection:\n${licence}\n */`},
  plugins: [text],
})
