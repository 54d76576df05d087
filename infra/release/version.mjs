// Prints the version, or sets it in every file that contains it.
//
//   node infra/release/version.mjs [0.2.0]
import { currentVersion, setVersion } from '../lib/version.mjs'

const [version] = process.argv.slice(2)
if (version !== undefined) setVersion(version)
console.log(currentVersion())
