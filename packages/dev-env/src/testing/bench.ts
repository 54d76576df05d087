// Shared parts of the benchmarks: a table, the load of wrk, and processor times.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { requireProgram } from '../processes/programs.mjs'

/** Prints a row of a Markdown table. */
export function print(...cells: readonly (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}

/** Prints the date, the machine, and the head of a table whose first column is text. */
export function printHead(note: string, ...columns: readonly string[]): void {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}`
  process.stdout.write(`\n${new Date().toISOString().slice(0, 10)}, ${machine}${note === '' ? '' : `, ${note}`}\n\n`)
  print(...columns)
  print(...columns.map((_, i) => (i === 0 ? '---' : '--:')))
}

/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share = 0.5): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** A number with thousands separators. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** The result of a load. `cpuMicros` is the processor time per request. */
export type Measured = { perSecond: number; p50Ms: number; p99Ms: number; errors: number; cpuMicros: number }

export type Load = {
  /** A script for wrk with its arguments, or requests to send in turn, such as `requestOf(url, path)`. */
  send: { script: string; args: readonly string[] } | { requests: readonly string[]; folder: string }
  connections: number
  seconds: number
  /** Headers of every request of a script. */
  headers?: readonly string[]
  /** The processor time that counts, in seconds. */
  cpuSeconds?: () => number
}

const REPLAY = fileURLToPath(new URL('./requests.lua', import.meta.url))

/** A GET request for wrk to send. */
export function requestOf(url: string, path: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Host: new URL(url).host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Lets wrk send requests. */
export async function measureLoad(url: string, load: Load): Promise<Measured> {
  const { send, connections, seconds, headers = [], cpuSeconds = () => 0 } = load
  let script = [REPLAY]
  if ('script' in send) script = [send.script, ...send.args]
  else {
    const file = join(send.folder, 'requests')
    writeFileSync(file, send.requests.join(''))
    script = [REPLAY, file]
  }
  const [file = '', ...args] = script
  const before = cpuSeconds()
  const { stdout } = await promisify(execFile)(await requireProgram('wrk'), [
    ...['-t1', `-c${String(connections)}`, `-d${String(seconds)}s`, '--latency', '--timeout=10s'],
    ...headers.flatMap((header) => ['-H', header]),
    ...['-s', file, url, '--', ...args],
  ])
  const numberIn = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? 0)
  const sockets = /connect (\d+), read \d+, write (\d+), timeout (\d+)/.exec(stdout)?.slice(1) ?? []
  return {
    perSecond: numberIn(/Requests\/sec:\s+([\d.]+)/),
    p50Ms: milliseconds(/50%\s+([\d.]+\w+)/.exec(stdout)?.[1]),
    p99Ms: milliseconds(/99%\s+([\d.]+\w+)/.exec(stdout)?.[1]),
    // wrk counts the end of a connection that it asked to be closed as a read error, so those do not count.
    errors: numberIn(/Non-2xx or 3xx responses: (\d+)/) + sockets.reduce((sum, count) => sum + Number(count), 0),
    cpuMicros: ((cpuSeconds() - before) * 1e6) / numberIn(/(\d+) requests in/),
  }
}

function milliseconds(text = ''): number {
  const [, number = 'NaN', unit] = /^([\d.]+)(us|ms|s)$/.exec(text) ?? []
  return Number(number) * (unit === 'us' ? 0.001 : unit === 's' ? 1000 : 1)
}

/** The processor time of a process and its descendants in seconds, including descendants that have ended (proc(5)). */
export function cpuOfTree(pid: number): number {
  // The time of a process that ends meanwhile counts for its parent.
  if (!existsSync(`/proc/${String(pid)}/stat`)) return 0
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const own = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0) / 100
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8').trim()
  return children.split(' ').reduce((sum, child) => sum + (child === '' ? 0 : cpuOfTree(Number(child))), own)
}

/** Waits until a server answers with any status. */
export async function untilAnswering(url: string, isRunning: () => boolean): Promise<void> {
  while (
    !(await fetch(url).then(
      (response) => response.arrayBuffer().then(() => true),
      () => false,
    ))
  ) {
    if (!isRunning()) throw new Error(`the server of ${url} ended while starting`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
