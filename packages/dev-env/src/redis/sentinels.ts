import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { PrivateServer } from '../databases/private-server.ts'
import { type ManagedProcess, startProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'
import { eventually } from '../testing/eventually.ts'
import { redisProgram, startRedis } from './redis.ts'

const SENTINELS = 3
const NAME = 'main'
/** When a server that does not answer counts as down. */
const DOWN_AFTER_MS = 2_000

/** A master with replicas, and three sentinels that replace it. */
export type SentinelGroup = {
  /** `redis+sentinel://…` */
  readonly url: string
  /** The master is the first of them at the start. */
  readonly servers: readonly PrivateServer[]
  readonly sentinels: readonly ManagedProcess[]
  /** The server that the sentinels name as master. */
  master(): Promise<PrivateServer>
  /** Has a replica replace the running master, and returns when the sentinels name it. */
  failOver(): Promise<void>
  /** Returns when all servers run and the master sends its data to the others. */
  whole(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts Redis with Sentinel and returns when the sentinels know each other and all replicas.
 *
 * @param options `settings` are further lines of the configuration of each Redis
 */
export async function startRedisWithSentinels(options: {
  folder: string
  replicas: number
  durable: boolean
  settings?: readonly string[]
}): Promise<SentinelGroup> {
  const password = randomBytes(16).toString('hex')
  const servers: PrivateServer[] = []
  for (let i = 0; i <= options.replicas; i++) {
    const [master] = servers
    const role = master === undefined ? [] : [`replicaof 127.0.0.1 ${master.port}`]
    servers.push(
      await startRedis({
        ...{ dataDir: join(options.folder, `redis-${i}`), durable: options.durable, password },
        settings: [`masterauth ${password}`, 'repl-diskless-sync-delay 0', ...role, ...(options.settings ?? [])],
      }),
    )
  }
  const ports: number[] = []
  const sentinels: ManagedProcess[] = []
  for (let i = 0; i < SENTINELS; i++) {
    const port = await freePort()
    ports.push(port)
    sentinels.push(await startSentinel(join(options.folder, `sentinel-${i}`), port, servers[0]?.port ?? 0, password))
  }
  const clients = ports.map((port) => new Redis(port, '127.0.0.1', { lazyConnect: true, maxRetriesPerRequest: null }))
  for (const client of clients) client.on('error', () => undefined)
  const [first] = clients
  await eventually(async () => {
    const known = await Promise.all(
      clients.map(async (client) => stateOf(await client.call('SENTINEL', 'MASTER', NAME))),
    )
    return known.every(
      (state) =>
        state.get('num-other-sentinels') === String(SENTINELS - 1) &&
        state.get('num-slaves') === String(options.replicas),
    )
  })
  for (const client of clients) if (client !== first) client.disconnect()
  const master = async (): Promise<PrivateServer> => {
    const address = await first?.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)
    const port = Array.isArray(address) ? Number(address[1]) : undefined
    const found = servers.find((server) => server.port === port)
    if (found === undefined) throw new Error('the sentinels name no master')
    return found
  }
  return {
    url: `redis+sentinel://:${password}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${NAME}`,
    servers,
    sentinels,
    master,
    failOver: async () => {
      const old = await master()
      await first?.call('SENTINEL', 'FAILOVER', NAME)
      await eventually(async () => (await master()) !== old)
    },
    whole: async () => {
      const client = new Redis(`redis://:${password}@127.0.0.1:${(await master()).port}`)
      const state = `connected_slaves:${options.replicas}\r`
      await eventually(async () => {
        const info = await client.info('replication')
        return info.includes(state) && info.match(/state=online/g)?.length === options.replicas
      })
      client.disconnect()
    },
    stop: async () => {
      first?.disconnect()
      await Promise.all([...sentinels, ...servers].map((server) => server.stop()))
    },
  }
}

async function startSentinel(folder: string, port: number, masterPort: number, password: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const configFile = join(folder, 'sentinel.conf')
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${JSON.stringify(folder)}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} 2`,
    `sentinel auth-pass ${NAME} ${password}`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 10000`,
    '',
  ]
  writeFileSync(configFile, lines.join('\n'), { mode: 0o600 })
  return await startProcess({
    name: 'Sentinel',
    command: await redisProgram(),
    args: [configFile, '--sentinel'],
    env: { LC_ALL: 'C', TZ: 'UTC' },
    cwd: folder,
    logFile: join(folder, 'sentinel.log'),
    pidFile: join(folder, 'process.json'),
    stopSignal: 'SIGTERM',
    graceMs: 5_000,
    phase: 1,
  })
}

/** A flat list of names and values. */
function stateOf(reply: unknown): Map<string, string> {
  const flat = Array.isArray(reply) ? reply.map(String) : []
  return new Map(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ''] as const] : [])))
}
