// Measures the cost of each part of an announce, by adding one part after the other. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench:stages [seconds for each measurement] [rounds]
import { type Measured, print, printHead, quantile, whole } from '@vault-and-tracker/dev-env/bench'
import { Redis } from 'ioredis'
import { startDatabases } from './databases.ts'
import { USERS } from './numbering.ts'
import { measureAnnounces, startOurs, startPlain, startStage, type Target } from './servers.ts'
import { populate } from './swarms.ts'

const seconds = Number(process.argv[2] ?? 4)
const rounds = Number(process.argv[3] ?? 3)
const size = { torrents: 1_000, peers: 10_000 }
const databases = await startDatabases()

const STAGES: readonly (readonly [name: string, start: () => Promise<Target>])[] = [
  ['plain node:http, a constant', startPlain],
  ['the announce front, a constant', () => startStage('front', databases)],
  ['with rules, choice of peers and reply; the swarm answers at once', () => startStage('rules', databases)],
  ['with calls to Redis, whose function does nothing', () => startStage('calls', databases)],
  ['the tracker', () => startOurs(databases)],
]

try {
  await databases.addUsers(USERS)
  await databases.addTorrents(size.torrents)
  const redis = new Redis(databases.redisUrl)
  await populate(redis, size.torrents, size.peers)
  redis.disconnect()
  const measured = STAGES.map((): Measured[][] => [[], []])
  for (let round = 0; round < rounds; round++)
    for (const [i, [, start]] of STAGES.entries()) {
      const target = await start()
      for (const [j, keepAlive] of [true, false].entries()) {
        await measureAnnounces(target, { ...size, keepAlive, seconds: 2 })
        measured[i]?.[j]?.push(await measureAnnounces(target, { ...size, keepAlive, seconds }))
      }
      await target.stop()
    }
  const columns = ['requests/s', 'of plain', 'CPU µs']
  const note = `median of ${String(rounds)} rounds`
  printHead(note, 'stage', ...columns, ...columns.map((column) => `one each: ${column}`))
  const medianOf = (stage: number, kind: number, of: (one: Measured) => number): number =>
    quantile((measured[stage]?.[kind] ?? []).map(of))
  for (const [i, [name]] of STAGES.entries()) {
    const cells = [0, 1].flatMap((kind) => {
      const [perSecond, plain] = [i, 0].map((stage) => medianOf(stage, kind, (one) => one.perSecond))
      const share = (Number(perSecond) / Number(plain)).toFixed(2)
      return [whole(Number(perSecond)), share, whole(medianOf(i, kind, (one) => one.cpuMicros))]
    })
    print(name, ...cells)
  }
} finally {
  await databases.stop()
}
