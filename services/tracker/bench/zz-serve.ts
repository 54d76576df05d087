import { mkdirSync, writeFileSync } from 'node:fs'
import { startSearchWorld } from './search-world.ts'

const folder = process.argv[2]!
mkdirSync(folder, { recursive: true })
const t = Date.now()
const world = await startSearchWorld(folder, Number(process.argv[3]))
writeFileSync(
  folder + '/urls.json',
  JSON.stringify({ ...world.database, redisUrl: world.redisUrl, categories: world.categories }),
)
console.log('ready', Date.now() - t, process.pid)
setInterval(() => {}, 1e6)
process.on('SIGTERM', () => void world.stop().then(() => process.exit(0)))
