import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Redis } from 'ioredis'
import { Fault, findProgram } from '../processes/command.mjs'
import { stopLeftover } from '../processes/leftovers.mjs'
import { type ManagedProcess, startProcess, untilAnswering } from '../processes/managed-process.ts'
import { freePort, portAnswers } from '../processes/ports.ts'
import { type RestartableProcess, restartable } from '../processes/restartable.ts'

/** The data directory and port of a private Redis, and whether its data survives. */
export interface RedisOptions {
  /** Holds its data, configuration, password and log. */
  dataDir: string
  /** Any free port when left out. */
  port?: number | undefined
  /** Whether data must survive: an append-only file, synced every second. */
  durable: boolean
}

/** A private Redis server that ends with the process that started it. */
export interface PrivateRedis extends RestartableProcess {
  port: number
  url: string
}

/** Starts a private Redis (or Valkey) on 127.0.0.1 and returns when it answers. */
export async function startRedis(options: RedisOptions): Promise<PrivateRedis> {
  const command = redisCommand()
  const dataDir = resolve(options.dataDir)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const pidFile = join(dataDir, 'process.json')
  await stopLeftover(pidFile)
  const port = options.port ?? (await freePort())
  const password = keptPassword(join(dataDir, 'password'))
  // In a file and not in the arguments, where every user of the machine could read the password.
  const configFile = join(dataDir, 'redis.conf')
  writeFileSync(configFile, configuration(dataDir, options.durable, port, password), { mode: 0o600 })
  const url = `redis://:${password}@127.0.0.1:${port}`
  const start = async (): Promise<ManagedProcess> => {
    const server = await startProcess({
      name: 'Redis',
      command,
      args: [configFile],
      env: { LC_ALL: 'C', TZ: 'UTC' },
      cwd: dataDir,
      logFile: join(dataDir, 'redis.log'),
      pidFile,
      stopSignal: 'SIGTERM',
      graceMs: 10_000,
      phase: 1,
    })
    // A refused ioredis connection leaves a timer that keeps the process running, so the port is tried first.
    return await untilAnswering(server, async () => (await portAnswers(port)) && (await answers(url)))
  }
  return Object.assign(restartable(await start(), start), { port, url })
}

/** The Redis server of this machine, or Valkey. */
function redisCommand(): string {
  const found = findProgram('redis-server') ?? findProgram('valkey-server')
  if (found !== undefined) return found
  throw new Fault(
    'redis-server is not installed: `npm start` and `npm test` install it when root runs them, otherwise use ' +
      '`apt-get install redis-server` or `brew install redis`, or set REDIS_URL (for tests TEST_REDIS_URL)',
  )
}

function keptPassword(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600 })
  return readFileSync(file, 'utf8').trim()
}

function configuration(dataDir: string, durable: boolean, port: number, password: string): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(dataDir)}`,
    'databases 64',
    'maxmemory-policy noeviction',
    // The append-only file makes snapshots unnecessary; tests need neither.
    'save ""',
    `appendonly ${durable ? 'yes' : 'no'}`,
    'appendfsync everysec',
    '',
  ].join('\n')
}

async function answers(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.ping()
    return true
  } catch {
    return false
  } finally {
    client.disconnect()
  }
}
