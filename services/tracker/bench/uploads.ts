// Measures announces while the costliest files are uploaded, one after the other, and prints one table. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench:uploads [seconds for each measurement]
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { withManyFiles, withManyKeys, withPieceLayers } from '../tests/support/costly-torrents.ts'
import { makeTorrent } from '../tests/support/make-torrent.ts'
import { measure } from './load.ts'
import { startOurs } from './servers.ts'
import { print } from './table.ts'
import { machine, startWorld } from './world.ts'

const seconds = Number(process.argv[2] ?? 10)
/** Half of what one process does on two cores that it shares with its stores and the load. */
const LOAD = { torrents: 1_000, peers: 10_000, connections: 64, keepAlive: true, seconds, pauseMs: 60 }
/** Uploaded in turn; what comes a second time is read and refused as a conflict. */
const FILES = 6

const KINDS = [
  ['nothing', undefined],
  ['small files', (name: string) => makeTorrent(name)],
  ['5 MB, 499,000 keys', withManyKeys],
  ['50,000 files', withManyFiles],
  ['10 MiB of v2 piece layers', withPieceLayers],
] as const

/** An encoded form with its content type. */
type Form = { readonly type: string; readonly bytes: Buffer }

const folder = temporaryFolder('bench')
const world = await startWorld(folder)
await world.addTorrents(LOAD.torrents)
await world.populate(LOAD.torrents, LOAD.peers)
const env = { REGISTRATION: 'open', REST_WRITE_LIMIT: '0', AUTH_LIMIT: '0' }
const target = await startOurs({ workers: 1, ...world, env })
try {
  const cookie = await register()
  await measure(target, { ...LOAD, seconds: 3 })
  process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n\n`)
  print('uploads', 'announces/s', 'p50 ms', 'p99 ms', 'uploads/s', 'upload p50 ms', 'slowest ms')
  print('---', '--:', '--:', '--:', '--:', '--:', '--:')
  for (const [kind, make] of KINDS) {
    const files = make === undefined ? [] : Array.from({ length: FILES }, (_, n) => make(`${kind} ${String(n)}`))
    const forms = await encodeForms(files)
    const until = performance.now() + seconds * 1_000
    const [announces, uploads] = await Promise.all([measure(target, LOAD), uploadUntil(until, forms, cookie)])
    const sorted = uploads.toSorted((a, b) => a - b)
    print(
      kind,
      Math.round(announces.perSecond).toLocaleString('en'),
      announces.p50Ms.toFixed(1),
      announces.p99Ms.toFixed(1),
      (uploads.length / seconds).toFixed(1),
      (sorted[sorted.length >> 1] ?? 0).toFixed(0),
      (sorted.at(-1) ?? 0).toFixed(0),
    )
  }
} finally {
  await target.stop()
  await world.stop()
  removeTemporaryFolder(folder)
}

async function register(): Promise<string> {
  const answer = await fetch(`${target.url}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'uploader', email: 'u@example.org', password: 'correct horse battery' }),
  })
  const cookie = /^session=[^;]*/.exec(answer.headers.getSetCookie()[0] ?? '')?.[0]
  if (cookie === undefined) throw new Error(`could not register: ${await answer.text()}`)
  return cookie
}

/** The form of each file as the bytes that are sent. Made before a measurement, as making them takes a processor. */
async function encodeForms(files: readonly Buffer[]): Promise<readonly Form[]> {
  return Promise.all(
    files.map(async (file) => {
      const form = new FormData()
      form.append('category', 'tv')
      form.append('torrent', new Blob([Uint8Array.from(file)]), 'x.torrent')
      const encoded = new Response(form)
      const type = encoded.headers.get('content-type') ?? ''
      return { type, bytes: Buffer.from(await encoded.arrayBuffer()) }
    }),
  )
}

/** Uploads one form after the other. @returns how long each took, in milliseconds */
async function uploadUntil(end: number, forms: readonly Form[], cookie: string): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true })
  const took: number[] = []
  for (let n = 0; performance.now() < end; n += 1) {
    const form = forms[n % forms.length]
    if (form === undefined) break
    const started = performance.now()
    const status = await upload(agent, form, cookie)
    if (status !== 201 && status !== 409) throw new Error(`an upload was ${String(status)}`)
    took.push(performance.now() - started)
  }
  agent.destroy()
  return took
}

/** Sends a form in one write: what fetch does with ten megabytes takes a processor from the service. @returns the status */
async function upload(agent: Agent, { type, bytes }: Form, cookie: string): Promise<number> {
  const headers = { cookie, 'content-type': type, 'content-length': bytes.length }
  const sent = request(`${target.url}/api/torrents`, { method: 'POST', agent, headers })
  sent.end(bytes)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  return answer.statusCode ?? 0
}
