import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Target } from './servers.ts'

const script = fileURLToPath(new URL('announces.lua', import.meta.url))

export type Load = {
  readonly torrents: number
  readonly peers: number
  readonly connections: number
  readonly keepAlive: boolean
  readonly seconds: number
  /** Milliseconds a connection waits between two requests, on average; 0 to go as fast as it can. */
  readonly pauseMs?: number
}

export type Measured = {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
  /** Processor time for a request, of the tracker and of Redis. */
  readonly cpuMicros: number
  /** Of these, Redis; and besides, Postgres and the process that flushes, where it is another one. 0 where there is none. */
  readonly redisMicros: number
  readonly postgresMicros: number
  readonly flushMicros: number
}

function secondsOf(target: Target): readonly [number, number, number, number] {
  const { parts } = target
  return [target.cpuSeconds(), parts?.redis() ?? 0, parts?.postgres() ?? 0, parts?.flush?.() ?? 0]
}

/** Has wrk send announces and says what came of it. */
export async function measure(target: Target, load: Load): Promise<Measured> {
  const before = secondsOf(target)
  const { stdout } = await promisify(execFile)('wrk', [
    '-t1',
    `-c${String(load.connections)}`,
    `-d${String(load.seconds)}s`,
    '--latency',
    '--timeout=10s',
    ...(load.keepAlive ? [] : ['-H', 'Connection: close']),
    '-s',
    script,
    target.url,
    '--',
    ...[load.torrents, load.peers, target.users, load.pauseMs ?? 0].map(String),
  ])
  const after = secondsOf(target)
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  const failed = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? '0'
  const sockets = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)
  // wrk counts the end of a connection that it asked to be closed as a read error of the next request.
  const broken = sockets ? Number(sockets[1]) + Number(sockets[3]) + Number(sockets[4]) : 0
  const micros = (part: 0 | 1 | 2 | 3): number => ((after[part] - before[part]) * 1e6) / requests
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    p50Ms: milliseconds(/50%\s+([\d.]+\w+)/.exec(stdout)?.[1]),
    p99Ms: milliseconds(/99%\s+([\d.]+\w+)/.exec(stdout)?.[1]),
    errors: Number(failed) + broken,
    ...{ cpuMicros: micros(0), redisMicros: micros(1), postgresMicros: micros(2), flushMicros: micros(3) },
  }
}

function milliseconds(text = ''): number {
  const [, number = 'NaN', unit = 'ms'] = /^([\d.]+)(us|ms|s)$/.exec(text) ?? []
  return Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit === 'us' || unit === 's' ? unit : 'ms']
}
