// Checks the types of src/, and bundles it and the parts of d3 that it uses into explorer.js, which Go embeds.

import {execFileSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {readFileSync, readdirSync} from 'node:fs'
import {build} from 'esbuild'

const text = {name: 'text', setup(b) {
  // Style sheets and the template are minified as far as line ends go: they are short lines by hand.
  b.onLoad({filter: /\.(css|html)$/}, ({path}) => ({contents: readFileSync(path, 'utf8').replace(/\n\s*/g, ''), loader: 'text'}))
}}
const licence = readFileSync('LICENSE.d3', 'utf8').trim().split('\n').map(line => ' * ' + line).join('\n').replace(/ +$/gm, '')

// By this a test of Go's, which has no node, sees whether the bundle was built from these sources.
const hash = createHash('sha256')
for (const name of readdirSync('src').sort()) hash.update(name).update('\0').update(readFileSync('src/' + name)).update('\0')

execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], {stdio: 'inherit'})

await build({
  entryPoints: ['src/main.js'],
  outfile: 'explorer.js',
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2020',
  charset: 'ascii',
  legalComments: 'none',
  banner: {js: `/*!\n * nodemask's drawing of aggregation trees; built from aggtree/explorer/src, SHA-256 ${hash.digest('hex')}.\n * It contains parts of d3-hierarchy and d3-selection:\n${licence}\n */`},
  plugins: [text],
})
