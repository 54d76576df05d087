// Preloaded with --expose-gc: writes the bytes of memory that are in use after a collection whenever SIGUSR2 comes.
// Usage: --import file:///…/memory-probe.mjs?<file to write>
import { renameSync, writeFileSync } from 'node:fs'

const file = new URL(import.meta.url).search.slice(1)
process.on('SIGUSR2', () => {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  writeFileSync(`${file}.draft`, String(process.memoryUsage().rss))
  renameSync(`${file}.draft`, file)
})
