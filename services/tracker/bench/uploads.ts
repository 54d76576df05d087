// Measures announces while the most expensive files are uploaded one after the other. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench:uploads [seconds for each measurement]
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { print, printHead, quantile, whole } from '@vault-and-tracker/dev-env/bench'
import { Redis } from 'ioredis'
import { withManyFiles, withManyKeys, withPieceLayers } from '../tests/support/costly-torrents.ts'
import { makeTorrent } from '../tests/support/make-torrent.ts'
import { startDatabases } from './databases.ts'
import { USERS } from './numbering.ts'
import { measureAnnounces, startOurs } from './servers.ts'
import { populate } from './swarms.ts'

const seconds = Number(process.argv[2] ?? 10)
/** Half of the load that one process takes on two cores that it shares with its stores and wrk. */
const LOAD = { torrents: 1_000, peers: 10_000, seconds, pauseMs: 60 }
/** Uploaded in turn. A file that comes a second time is read and refused as a conflict. */
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

const databases = await startDatabases()
await databases.addUsers(USERS)
await databases.addTorrents(LOAD.torrents)
const redis = new Redis(databases.redisUrl)
await populate(redis, LOAD.torrents, LOAD.peers)
redis.disconnect()
const target = await startOurs(databases, { env: { REGISTRATION: 'open', REST_WRITE_LIMIT: '0', AUTH_LIMIT: '0' } })
try {
  const cookie = await register()
  await measureAnnounces(target, { ...LOAD, seconds: 3 })
  printHead('', 'uploads', 'announces/s', 'p50 ms', 'p99 ms', 'uploads/s', 'upload p50 ms', 'slowest ms')
  for (const [kind, make] of KINDS) {
    const files = make === undefined ? [] : Array.from({ length: FILES }, (_, n) => make(`${kind} ${String(n)}`))
    const forms = await Promise.all(files.map(encodeForm))
    const until = performance.now() + seconds * 1_000
    const [announces, uploads] = await Promise.all([measureAnnounces(target, LOAD), uploadUntil(until, forms, cookie)])
    const latency = [announces.p50Ms.toFixed(1), announces.p99Ms.toFixed(1)]
    const uploaded = [(uploads.length / seconds).toFixed(1), whole(quantile(uploads)), whole(Math.max(0, ...uploads))]
    print(kind, whole(announces.perSecond), ...latency, ...uploaded)
  }
} finally {
  await target.stop()
  await databases.stop()
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

/** The bytes of an upload, encoded before a measurement because that takes a processor. */
async function encodeForm(file: Buffer): Promise<Form> {
  const form = new FormData()
  form.append('category', 'tv')
  form.append('torrent', new Blob([Uint8Array.from(file)]), 'x.torrent')
  const encoded = new Response(form)
  return { type: encoded.headers.get('content-type') ?? '', bytes: Buffer.from(await encoded.arrayBuffer()) }
}

/** Uploads forms one after the other. Returns their times in milliseconds. */
async function uploadUntil(end: number, forms: readonly Form[], cookie: string): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  for (let n = 0; performance.now() < end; n += 1) {
    const form = forms[n % forms.length]
    if (form === undefined) break
    const started = performance.now()
    const headers = { cookie, 'content-type': form.type, 'content-length': form.bytes.length }
    // One write takes less of a processor than fetch.
    const sent = request(`${target.url}/api/torrents`, { method: 'POST', agent, headers })
    sent.end(form.bytes)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    await once(answer.resume(), 'end')
    const { statusCode } = answer
    if (statusCode !== 201 && statusCode !== 409) throw new Error(`an upload was answered ${String(statusCode)}`)
    times.push(performance.now() - started)
  }
  agent.destroy()
  return times
}
