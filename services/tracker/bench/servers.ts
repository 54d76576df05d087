import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, nodeFlagsOf } from '@vault-and-tracker/dev-env'
import { infoHashOf, USERS } from './numbering.ts'

/** A tracker under load. */
export type Target = {
  readonly name: string
  readonly url: string
  /** Users whose passkeys announces carry; 0 where there are none. */
  readonly users: number
  readonly pid: number
  /** Seconds of processor time used so far, by the tracker and its Redis. */
  cpuSeconds(): number
  /** The same of what works for this tracker, apart. */
  readonly parts?: { redis(): number; postgres(): number; flush?(): number }
  stop(): Promise<void>
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

/** Plain node:http. */
export async function startPlain(): Promise<Target> {
  const port = await freePort()
  return start('plain node:http', port, process.execPath, [here('plain-http.mjs'), String(port)], '/')
}

/** A part of the tracker: see stage-server.ts. */
export async function startStage(
  stage: 'front' | 'rules' | 'calls',
  { redisUrl, redisPid }: { readonly redisUrl: string; readonly redisPid: number },
): Promise<Target> {
  const port = await freePort()
  const program = ['--import', '@vault-and-tracker/dev-env/typescript', here('stage-server.ts')]
  const args = [...nodeFlagsOf('tracker'), ...program, String(port), stage, redisUrl]
  const target = await start(stage, port, process.execPath, args, '/')
  const redis = (): number => (stage === 'calls' ? cpuOf(redisPid) : 0)
  const cpuSeconds = (): number => target.cpuSeconds() + redis()
  return { ...target, users: USERS, cpuSeconds, parts: { redis, postgres: () => 0 } }
}

/** The npm package bittorrent-tracker, over HTTP or over WebSockets; `flags` are for Node. */
export async function startNpmTracker(
  protocol: 'http' | 'ws' = 'http',
  flags: readonly string[] = [],
): Promise<Target> {
  const port = await freePort()
  const args = [...flags, here('npm-tracker.mjs'), String(port), protocol]
  return start('bittorrent-tracker (npm)', port, process.execPath, args, '/stats')
}

/** Debian's opentracker, which serves listed torrents only. */
export async function startOpentracker(folder: string, torrents: number): Promise<Target> {
  const port = await freePort()
  const [list, config] = [join(folder, 'whitelist'), join(folder, 'opentracker.conf')]
  writeFileSync(list, Array.from({ length: torrents }, (_, t) => `${infoHashOf(t).toString('hex')}\n`).join(''))
  const address = `127.0.0.1:${String(port)}`
  writeFileSync(config, `listen.tcp ${address}\naccess.whitelist ${list}\naccess.stats 127.0.0.1\n`)
  for (const path of [folder, list, config]) chmodSync(path, 0o755)
  return start('opentracker (Debian)', port, 'opentracker', ['-f', config], '/stats')
}

/** Ours, as built. */
export async function startOurs(options: {
  workers: number
  databaseUrl: string
  redisUrl: string
  redisPid: number
  postgresPid?: number
  env?: Readonly<Record<string, string>>
  /** For Node, besides those that it always gets. */
  flags?: readonly string[]
}): Promise<Target> {
  const port = await freePort()
  const args = [...nodeFlagsOf('tracker'), ...(options.flags ?? []), here('../dist/main.js')]
  const target = await start(
    `this tracker, ${String(options.workers)} worker(s)`,
    port,
    process.execPath,
    args,
    '/health',
    {
      PORT: String(port),
      HOST: '127.0.0.1',
      PUBLIC_URL: `http://127.0.0.1:${String(port)}`,
      DATABASE_URL: options.databaseUrl,
      REDIS_URL: options.redisUrl,
      TRACKER_WORKERS: String(options.workers),
      ALLOW_PRIVATE_PEERS: 'true',
      ANNOUNCE_LIMIT: '0',
      SCRAPE_LIMIT: '0',
      // Otherwise most announces of a bench come too soon, and are answered from cheap state.
      MIN_ANNOUNCE_INTERVAL: '1',
      LOG_LEVEL: 'warn',
      ...options.env,
    },
  )
  const { redisPid, postgresPid } = options
  const redis = (): number => cpuOf(redisPid)
  const postgres = (): number => (postgresPid === undefined ? 0 : cpuOfTree(postgresPid))
  const cpuSeconds = (): number => target.cpuSeconds() + redis()
  return { ...target, users: USERS, cpuSeconds, parts: { redis, postgres } }
}

async function start(
  name: string,
  port: number,
  command: string,
  args: readonly string[],
  readyPath: string,
  env: Record<string, string> = {},
): Promise<Target> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${String(port)}`
  await ready(child, url + readyPath)
  const pid = child.pid ?? 0
  return {
    name,
    url,
    users: 0,
    pid,
    cpuSeconds: () => cpuOfTree(pid),
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await Promise.race([exited, sleep(5000).then(() => child.kill('SIGKILL'))])
    },
  }
}

async function ready(child: ChildProcess, url: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended while starting`)
    const answered = await fetch(url).then(
      (response) => response.arrayBuffer().then(() => true),
      () => false,
    )
    if (answered) return
    await sleep(50)
  }
  throw new Error(`${child.spawnfile} does not answer`)
}

const TICKS_PER_SECOND = 100

/** User and system time of a process. */
export function cpuOf(pid: number): number {
  return secondsIn(pid, 11)
}

function cpuOfEnded(pid: number): number {
  return secondsIn(pid, 13)
}

/** Two neighbouring fields of a process (proc(5)), the state being the first one. */
function secondsIn(pid: number, field: number): number {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[field]) + Number(fields[field + 1])) / TICKS_PER_SECOND
}

/** User and system time of a process and those below it, ended ones included. */
export function cpuOfTree(pid: number): number {
  // One that ends meanwhile is counted with its parent from then on.
  if (!existsSync(`/proc/${String(pid)}/stat`)) return 0
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8').trim()
  const below = children === '' ? [] : children.split(' ')
  return below.reduce((sum, child) => sum + cpuOfTree(Number(child)), cpuOf(pid) + cpuOfEnded(pid))
}
