// What each part of an announce costs: the parts one after the other, each with those before it. See docs/performance.md.
// Usage: pnpm --filter tracker bench:stages [seconds for each measurement] [rounds]
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { measure } from './load.ts'
import { median } from './median.ts'
import { startOurs, startPlain, startStage, type Target } from './servers.ts'
import { print } from './table.ts'
import { machine, startWorld } from './world.ts'

const seconds = Number(process.argv[2] ?? 4)
const rounds = Number(process.argv[3] ?? 3)
const size = { torrents: 1_000, peers: 10_000 }
const folder = temporaryFolder('bench-stages')
const world = await startWorld(folder)

const STAGES: readonly (readonly [name: string, start: () => Promise<Target>])[] = [
  ['plain node:http, a constant', startPlain],
  ['the announce front, a constant', () => startStage('front', world)],
  ['with rules, choice of peers and reply; the swarm answers at once', () => startStage('rules', world)],
  ['with calls to Redis, whose function does nothing', () => startStage('calls', world)],
  ['the tracker', () => startOurs({ workers: 1, ...world })],
]

type Row = { readonly perSecond: number; readonly cpuMicros: number; readonly redisMicros: number }

function cellsOf(rows: readonly Row[], plain: number): string[] {
  const perSecond = median(rows.map((row) => row.perSecond))
  const redis = median(rows.map((row) => row.redisMicros))
  const own = median(rows.map((row) => row.cpuMicros - row.redisMicros))
  return [
    Math.round(perSecond).toLocaleString('en'),
    (perSecond / plain).toFixed(2),
    own.toFixed(0),
    redis === 0 ? '' : redis.toFixed(1),
  ]
}

try {
  await world.addTorrents(size.torrents)
  await world.populate(size.torrents, size.peers)
  const measured = STAGES.map(() => ({ keepAlive: [] as Row[], oneEach: [] as Row[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [i, [, start]] of STAGES.entries()) {
      const target = await start()
      for (const keepAlive of [true, false]) {
        const load = { ...size, connections: 64, keepAlive, seconds }
        await measure(target, { ...load, seconds: 2 })
        measured[i]?.[keepAlive ? 'keepAlive' : 'oneEach'].push(await measure(target, load))
      }
      await target.stop()
    }
  }
  process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${machine()}, median of ${String(rounds)} rounds\n\n`)
  const columns = ['requests/s', 'of plain', 'CPU us', 'Redis us']
  print('', ...columns, ...columns.map((column) => `one each: ${column}`))
  print('---', ...[...columns, ...columns].map(() => '--:'))
  const [plain] = measured
  for (const [i, [name]] of STAGES.entries()) {
    const { keepAlive = [], oneEach = [] } = measured[i] ?? {}
    print(
      name,
      ...cellsOf(keepAlive, median((plain?.keepAlive ?? []).map((row) => row.perSecond))),
      ...cellsOf(oneEach, median((plain?.oneEach ?? []).map((row) => row.perSecond))),
    )
  }
} finally {
  await world.stop()
  removeTemporaryFolder(folder)
}
