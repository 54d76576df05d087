// Preloaded into a process: writes its memory after a collection, as JSON, whenever SIGUSR2 comes.
// Usage: --import file:///…/memory-probe.mjs?<file to write>
import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const file = new URL(import.meta.url).search.slice(1)
setFlagsFromString('--expose-gc')
/** @type {() => void} */
const collect = runInNewContext('gc')
process.on('SIGUSR2', () => {
  for (let i = 0; i < 3; i++) collect()
  writeFileSync(`${file}.draft`, JSON.stringify(process.memoryUsage()))
  renameSync(`${file}.draft`, file)
})
