import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, redisProgram } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'

const SLOTS = 16_384

/** A Redis Cluster of masters on the loopback. */
export type RedisCluster = {
  readonly urls: readonly string[]
  /** Kills the first node: the Cluster does not serve its slots then, and no others once it has noticed. */
  stopOne(): Promise<void>
  stop(): Promise<void>
}

/** Starts the nodes, has them meet, and returns once every slot is served. */
export async function startRedisCluster(folder: string, size = 3): Promise<RedisCluster> {
  const program = await redisProgram()
  const nodes: { port: number; child: ChildProcess }[] = []
  for (let i = 0; i < size; i++) {
    const port = await freePort()
    const dir = `${folder}/node-${String(i)}`
    mkdirSync(dir, { recursive: true })
    const settings = {
      port,
      bind: '127.0.0.1',
      dir,
      'cluster-enabled': 'yes',
      'cluster-port': await freePort(),
      'cluster-node-timeout': 2000,
      save: '',
    }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    nodes.push({ port, child: spawn(program, args, { stdio: 'ignore' }) })
  }
  const clients = nodes.map(({ port }) => new Redis(port, '127.0.0.1', { retryStrategy: () => 50 }))
  for (const client of clients) client.on('error', () => undefined)
  const share = Math.ceil(SLOTS / size)
  for (const [i, client] of clients.entries()) {
    await client.call('CLUSTER', 'ADDSLOTSRANGE', i * share, Math.min(SLOTS, (i + 1) * share) - 1)
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
  }
  const [first, ...others] = clients
  for (const [i] of others.entries()) {
    const other = nodes[i + 1]
    const busPort = String(await others[i]?.config('GET', 'cluster-port')).split(',')[1] ?? ''
    await first?.call('CLUSTER', 'MEET', '127.0.0.1', other?.port ?? 0, busPort)
  }
  for (let i = 0; i < 200; i++) {
    const states = await Promise.all(clients.map((client) => client.cluster('INFO')))
    if (
      states.every(
        (state) => state.includes('cluster_state:ok') && state.includes(`cluster_known_nodes:${String(size)}`),
      )
    )
      break
    await sleep(50)
  }
  for (const client of clients) client.disconnect()
  return {
    urls: nodes.map(({ port }) => `redis://127.0.0.1:${String(port)}`),
    stopOne: () => stop(nodes.slice(0, 1)),
    stop: () => stop(nodes),
  }
}

async function stop(nodes: readonly { readonly child: ChildProcess }[]): Promise<void> {
  await Promise.all(
    nodes.map(async ({ child }) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }),
  )
}
