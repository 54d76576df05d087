// Writes the `vault` command with all its dependencies to one file for Node.
//
//   node infra/release/bundle.mjs vault.cjs
import { bundleCommand } from '../lib/bundle.mjs'
import { currentVersion } from '../lib/version.mjs'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Name the file to write.')
await bundleCommand(file, currentVersion())
