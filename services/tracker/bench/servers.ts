import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, nodeFlagsOf } from '@vault-and-tracker/dev-env'
import { cpuOfTree, type Load, type Measured, measureLoad, untilAnswering } from '@vault-and-tracker/dev-env/bench'
import { infoHashOf, USERS } from './numbering.ts'

/** A tracker under load. */
export type Target = {
  readonly name: string
  readonly url: string
  /** Users whose passkeys announces contain; 0 without passkeys. */
  readonly users: number
  readonly pid: number
  /** The processor time of the tracker and its Redis in seconds. */
  cpuSeconds(): number
  stop(): Promise<void>
}

type Stores = { databaseUrl: string; redisUrl: string; redisPid: number }

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

/** Plain node:http, with a constant reply. */
export function startPlain(): Promise<Target> {
  return start('plain node:http', (port) => [process.execPath, here('plain-http.mjs'), port], '/')
}

/** The npm package bittorrent-tracker, over HTTP or over WebSockets. */
export function startNpmTracker(protocol: 'http' | 'ws' = 'http'): Promise<Target> {
  return start(
    'bittorrent-tracker (npm)',
    (port) => [process.execPath, here('npm-tracker.mjs'), port, protocol],
    '/stats',
  )
}

/** Debian's opentracker, which serves listed torrents only. */
export function startOpentracker(folder: string, torrents: number): Promise<Target> {
  const [list, config] = [join(folder, 'whitelist'), join(folder, 'opentracker.conf')]
  writeFileSync(list, Array.from({ length: torrents }, (_, t) => `${infoHashOf(t).toString('hex')}\n`).join(''))
  const args = (port: string): string[] => {
    writeFileSync(config, `listen.tcp 127.0.0.1:${port}\naccess.whitelist ${list}\naccess.stats 127.0.0.1\n`)
    for (const path of [folder, list, config]) chmodSync(path, 0o755)
    return ['opentracker', '-f', config]
  }
  return start('opentracker (Debian)', args, '/stats')
}

/** The built tracker. */
export async function startOurs(
  { databaseUrl, redisUrl, redisPid }: Stores,
  { workers = 1, env = {} }: { workers?: number; env?: Readonly<Record<string, string>> } = {},
): Promise<Target> {
  const args = [process.execPath, ...nodeFlagsOf('tracker'), here('../dist/main.js')]
  const target = await start(
    `this tracker, ${String(workers)} worker(s)`,
    () => args,
    '/health',
    (port) => ({
      ...{ PORT: port, HOST: '127.0.0.1', PUBLIC_URL: `http://127.0.0.1:${port}`, LOG_LEVEL: 'warn' },
      ...{ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, TRACKER_WORKERS: String(workers) },
      ...{ ALLOW_PRIVATE_PEERS: 'true', ANNOUNCE_LIMIT: '0', SCRAPE_LIMIT: '0' },
      // Otherwise most announces of a benchmark come too soon, and get a cheap answer.
      MIN_ANNOUNCE_INTERVAL: '1',
      ...env,
    }),
  )
  return { ...target, users: USERS, cpuSeconds: () => target.cpuSeconds() + cpuOfTree(redisPid) }
}

async function start(
  name: string,
  commandOf: (port: string) => readonly string[],
  readyPath: string,
  envOf: (port: string) => Record<string, string> = () => ({}),
): Promise<Target> {
  const port = String(await freePort())
  const [command = '', ...args] = commandOf(port)
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], ...envOf(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [url, pid] = [`http://127.0.0.1:${port}`, Number(child.pid)]
  await untilAnswering(url + readyPath, () => child.exitCode === null)
  const stop = async (): Promise<void> => {
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await Promise.race([exited, sleep(5000).then(() => child.kill('SIGKILL'))])
  }
  return { name, url, users: 0, pid, cpuSeconds: () => cpuOfTree(pid), stop }
}

export type Announces = {
  readonly torrents: number
  readonly peers: number
  readonly keepAlive?: boolean
  readonly seconds: number
  /** The mean pause of a connection between two requests, in milliseconds. */
  readonly pauseMs?: number
}

/** Lets wrk send announces over 64 connections. */
export async function measureAnnounces(
  target: Target,
  { torrents, peers, keepAlive = true, seconds, pauseMs = 0 }: Announces,
): Promise<Measured> {
  const load: Load = {
    send: { script: here('announces.lua'), args: [torrents, peers, target.users, pauseMs].map(String) },
    ...{ connections: 64, seconds, cpuSeconds: () => target.cpuSeconds() },
    headers: keepAlive ? [] : ['Connection: close'],
  }
  return await measureLoad(target.url, load)
}
