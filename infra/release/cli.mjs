// Builds the `vault` command as one executable file for this platform, with the Node that runs this script.
//
//   node infra/release/cli.mjs [folder]     `release` by default
import { statSync } from 'node:fs'
import { capture } from '../../packages/dev-env/src/processes/command.mjs'
import { buildExecutable } from '../lib/executable.mjs'
import { currentVersion } from '../lib/version.mjs'

const [folder = 'release'] = process.argv.slice(2)
const version = currentVersion()
const file = await buildExecutable(folder, version)
const began = performance.now()
const { stdout, output } = await capture(file, ['--version'])
const took = performance.now() - began
if (stdout.trim() !== version) throw new Error(`${file} --version printed ${output}`)
console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB, ${took.toFixed(0)} ms for --version`)
