// Outlives the process that started it, for one purpose: when that process is gone, by whatever death, its pipe to
// us closes, and we stop the children it left behind. Plain JavaScript, because it must run from a source tree that
// was never built, and alone in a session of its own, so that a terminal's Ctrl-C does not reach it.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stopInPhases } from './stop.mjs'

const watched = new Map()
const paths = new Set()

const apply = {
  watch: ({ entry }) => watched.set(entry.pid, entry),
  forget: ({ pid }) => watched.delete(pid),
  remove: ({ path }) => paths.add(path),
  keep: ({ path }) => paths.delete(path),
}

/** The processes that noted themselves in `<path>/guests`: workers of a test run, which start after their servers. */
function guestsOf(path) {
  try {
    const guests = join(path, 'guests')
    return readdirSync(guests).map((name) => JSON.parse(readFileSync(join(guests, name), 'utf8')))
  } catch {
    return []
  }
}

for (const name of ['SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(name, () => {})

const orders = createInterface({ input: process.stdin })
process.on('SIGTERM', () => orders.close())
orders.on('line', (line) => {
  const order = JSON.parse(line)
  apply[order.op](order)
})
orders.on('close', async () => {
  await stopInPhases([...watched.values(), ...[...paths].flatMap(guestsOf)])
  for (const path of paths) rmSync(path, { recursive: true, force: true })
  process.exit(0)
})
