// Fills a private Postgres with torrents and measures lists and searches. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench:search [torrents] [samples]
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { measureSearches } from './search-measure.ts'
import { startSearchWorld } from './search-world.ts'
import { machine } from './world.ts'

const torrents = Number(process.argv[2] ?? 1_000_000)
const samples = Number(process.argv[3] ?? 100)
const folder = temporaryFolder('bench')
const world = await startSearchWorld(folder, torrents)
try {
  process.stdout.write(
    `${new Date().toISOString().slice(0, 10)}, ${machine()}, ${torrents.toLocaleString('en')} torrents\n\n`,
  )
  await measureSearches(world, samples, folder)
} finally {
  await world.stop()
  removeTemporaryFolder(folder)
}
