// One job of load, in a process of its own: raw sockets, requests written beforehand, answers counted and not parsed.
// A closed loop: every connection sends its next request when the answer to the last one is complete.
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures'
import { type Duration, type LoadJob, onJob, quantile, type Result, type Signer, send } from './job.ts'

/** The longest an unanswered request may hold up the measurement. */
const PATIENCE_MS = 15_000
const END_OF_HEAD = Buffer.from('\r\n\r\n')

type State = { latencies: number[]; errors: number; measuring: boolean; over: boolean }

onJob('load', run)

async function run({
  port,
  path,
  connections,
  seconds,
  warmUpSeconds,
  signers = [],
  perSecond = 0,
}: LoadJob & Duration): Promise<Result> {
  const requests = createRequests(port, path, signers)
  // Signing costs 35 µs; done before the clock starts, it costs the measurement nothing.
  requests.prepare(Math.ceil((warmUpSeconds + seconds) * perSecond))
  const state: State = { latencies: [], errors: 0, measuring: false, over: false }
  const clients = Array.from({ length: connections }, () => client(port, requests.next, state))
  await sleep(warmUpSeconds * 1000)
  const cpuBefore = process.cpuUsage()
  send({ started: true })
  state.measuring = true
  const started = performance.now()
  await sleep(seconds * 1000)
  state.measuring = false
  const elapsedMs = performance.now() - started
  const cpu = process.cpuUsage(cpuBefore)
  state.over = true
  await Promise.all(clients)
  const sorted = Float64Array.from(state.latencies).sort()
  return {
    perSecond: (sorted.length * 1000) / elapsedMs,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    errors: state.errors,
    loadCpu: (cpu.user + cpu.system) / 1000 / elapsedMs,
  }
}

/** Every signed request is another one: a fresh nonce, the present time, the signers in turn. */
function createRequests(port: number, path: string, signers: readonly Signer[]) {
  const plain = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  if (signers.length === 0) return { prepare: () => undefined, next: () => plain }
  const keys = signers.map(({ project, privateKey }) => ({ project, key: importPrivateKey(privateKey) }))
  const url = `http://127.0.0.1:${port}${path}`
  const ready: Buffer[] = []
  let made = 0
  const make = (): Buffer => {
    const signer = keys[made++ % keys.length]
    if (signer === undefined) throw new Error('nobody signs')
    const created = Math.floor(Date.now() / 1000)
    const headers = signRequest({ method: 'GET', url, ...signer, created, nonce: randomBytes(16).toString('hex') })
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n`)
  }
  return {
    prepare: (count: number) => {
      for (let i = 0; i < count; i++) ready.push(make())
    },
    next: () => ready.pop() ?? make(),
  }
}

/** Resolves when the connection has its last answer. */
function client(port: number, nextRequest: () => Buffer, state: State): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let chunks: Buffer[] = []
    let received = 0
    let expected = 0
    let sentAt = 0
    const request = (): void => {
      if (state.over) {
        socket.end()
        return
      }
      chunks = []
      received = 0
      expected = 0
      sentAt = performance.now()
      socket.write(nextRequest())
    }
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('no answer')))
    socket.on('connect', request)
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (expected === 0) {
        chunks.push(chunk)
        expected = lengthOf(chunks.length === 1 ? chunk : Buffer.concat(chunks))
      }
      if (expected === 0 || received < expected) return
      if (state.measuring) {
        state.latencies.push(performance.now() - sentAt)
        if (chunks[0]?.toString('latin1', 9, 12) !== '200') state.errors++
      }
      request()
    })
    socket.on('error', () => {
      state.errors++
    })
    socket.on('close', () => resolve())
  })
}

/** Bytes of head and body together, 0 while the head is not complete. */
function lengthOf(bytes: Buffer): number {
  const end = bytes.indexOf(END_OF_HEAD)
  if (end === -1) return 0
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, end)) ?? []
  if (length === undefined) throw new Error('an answer without a length')
  return end + END_OF_HEAD.length + Number(length)
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
