// Compares this tracker with others under the same load on this machine, and prints one table. See docs/performance.md.
// Usage: pnpm --filter tracker bench [seconds for each measurement] [plain | 1 | 2 | flush | npm | opentracker]
import { setTimeout as sleep } from 'node:timers/promises'
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { type Load, measure } from './load.ts'
import { populateOverHttp } from './populate.ts'
import { cpuOfTree, startNpmTracker, startOpentracker, startOurs, startPlain, type Target } from './servers.ts'
import { print } from './table.ts'
import { machine, startWorld } from './world.ts'

const seconds = Number(process.argv[2] ?? 8)
const only = process.argv[3]
const folder = temporaryFolder('bench')
const world = await startWorld(folder)

type Size = { readonly torrents: number; readonly peers: number }
const SMALL: Size = { torrents: 1_000, peers: 10_000 }
const BUSY: Size = { torrents: 1_000, peers: 100_000 }
const CROWDED: Size = { torrents: 100, peers: 100_000 }
const WIDE: Size = { torrents: 100_000, peers: 100_000 }
const DEEP: Size = { torrents: 1_000, peers: 1_000_000 }
const LARGE: Size = { torrents: 100_000, peers: 1_000_000 }

/** Longer than it takes until background tasks have run. */
const LEADS_AFTER_MS = 3_000

async function row(target: Target, size: Size, load: Partial<Load> = {}): Promise<number> {
  const keepAlive = load.keepAlive ?? true
  const whole = { ...size, connections: 64, keepAlive, seconds, ...load }
  // As long as it takes to have met most torrents once.
  await measure(target, { ...whole, seconds: size.torrents > 10_000 ? 12 : 2 })
  const { perSecond, p50Ms, p99Ms, errors, ...cpu } = await measure(target, whole)
  print(
    target.name,
    size.torrents.toLocaleString('en'),
    size.peers.toLocaleString('en'),
    keepAlive ? (load.pauseMs === undefined ? 'keep-alive' : 'keep-alive, half load') : 'one each',
    Math.round(perSecond).toLocaleString('en'),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    cpu.cpuMicros.toFixed(0),
    ...[cpu.redisMicros, cpu.postgresMicros, cpu.flushMicros].map((micros) => (micros === 0 ? '' : micros.toFixed(0))),
    String(errors),
  )
  return perSecond
}

process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n\n`)
const cpuColumns = ['CPU us/request', 'of it Redis', 'Postgres', 'flush apart']
print('tracker', 'torrents', 'peers', 'connections', 'requests/s', 'p50 ms', 'p99 ms', ...cpuColumns, 'errors')
print('---', '--:', '--:', '---', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:')

const memory: string[] = []
async function ours(workers: number): Promise<void> {
  for (const size of [SMALL, BUSY, CROWDED, WIDE, DEEP, LARGE]) {
    await world.addTorrents(size.torrents)
    const bytes = await world.populate(size.torrents, size.peers)
    if (workers === 1)
      memory.push(
        `${size.peers.toLocaleString('en')} peers in ${size.torrents.toLocaleString('en')} torrents: ${bytes.toFixed(0)} bytes of Redis a peer`,
      )
    const target = await startOurs({ workers, ...world })
    const full = await row(target, size)
    if (size === SMALL || size === BUSY) await row(target, size, { keepAlive: false })
    if (size === SMALL) {
      await row(target, size, { pauseMs: (64 / (full / 2)) * 1000 })
    }
    await target.stop()
  }
}

/** What a flush takes of the processor: it is done by the process that leads, which gets no announces here. */
async function flushApart(): Promise<void> {
  for (const size of [BUSY, WIDE]) {
    await world.addTorrents(size.torrents)
    await world.populate(size.torrents, size.peers)
    const leader = await startOurs({ workers: 1, ...world })
    await sleep(LEADS_AFTER_MS)
    const target = await startOurs({ workers: 1, ...world })
    const parts = target.parts && { ...target.parts, flush: () => cpuOfTree(leader.pid) }
    await row({ ...target, name: 'this tracker, flushed by another process', ...(parts && { parts }) }, size)
    await target.stop()
    await leader.stop()
  }
}

async function other(keepAlive: boolean, make: (size: Size) => Promise<Target>): Promise<void> {
  for (const size of [SMALL, BUSY, CROWDED, WIDE]) {
    const target = await make(size)
    await populateOverHttp(target, { ...size, keepAlive })
    if (keepAlive) await row(target, size)
    await row(target, size, { keepAlive: false })
    await target.stop()
  }
}

try {
  if (only === undefined || only === 'plain') {
    const plain = await startPlain()
    await row(plain, SMALL)
    await row(plain, SMALL, { keepAlive: false })
    await plain.stop()
  }
  if (only === undefined || only === '1') await ours(1)
  if (only === undefined || only === '2') await ours(2)
  if (only === undefined || only === 'flush') await flushApart()
  if (only === undefined || only === 'npm') await other(true, () => startNpmTracker())
  if (only === undefined || only === 'opentracker')
    await other(false, (size) => startOpentracker(folder, size.torrents))
  process.stdout.write(`\n${memory.join('\n')}\n`)
} finally {
  await world.stop()
  removeTemporaryFolder(folder)
}
