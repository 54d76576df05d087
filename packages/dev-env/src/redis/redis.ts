import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { keptPassword, type PrivateServer, type ServerOptions } from '../databases/private-server.ts'
import { startProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'
import { requireProgram } from '../processes/programs.mjs'

/** The program that is started as Redis: `redis-server`, or the one that REDIS_SERVER names, such as `valkey-server`. */
export function redisProgram(): Promise<string> {
  return requireProgram(process.env['REDIS_SERVER'] || 'redis-server')
}

/** A password instead of a generated one, and further lines of its configuration. */
export type RedisOptions = ServerOptions & { readonly password?: string; readonly settings?: readonly string[] }

/** Starts a private Redis (or Valkey) on 127.0.0.1 and returns when it answers. */
export async function startRedis(options: RedisOptions): Promise<PrivateServer> {
  const dataDir = resolve(options.dataDir)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const port = options.port ?? (await freePort())
  const password = options.password ?? keptPassword(dataDir)
  // Every user of the machine can read arguments, so the password is in a file.
  const configFile = join(dataDir, 'redis.conf')
  writeFileSync(
    configFile,
    [...configuration(dataDir, options.durable, port, password), ...(options.settings ?? []), ''].join('\n'),
    { mode: 0o600 },
  )
  const server = await startProcess({
    name: 'Redis',
    command: await redisProgram(),
    args: [configFile],
    env: { LC_ALL: 'C', TZ: 'UTC' },
    cwd: dataDir,
    logFile: join(dataDir, 'redis.log'),
    pidFile: join(dataDir, 'process.json'),
    stopSignal: 'SIGTERM',
    graceMs: 10_000,
    phase: 1,
    answers: () => answersPing(port, password),
  })
  return Object.assign(server, { port, url: `redis://:${password}@127.0.0.1:${port}` })
}

function configuration(dataDir: string, durable: boolean, port: number, password: string): string[] {
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
  ]
}

/** Whether it answers a PING. An ioredis client whose connection was refused would keep this process from ending. */
async function answersPing(port: number, password: string): Promise<boolean> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  socket.setTimeout(2000, () => socket.destroy())
  socket.write(`AUTH ${password}\r\nPING\r\nQUIT\r\n`)
  try {
    return (await socket.toArray()).join('').includes('+PONG')
  } catch {
    return false
  }
}
