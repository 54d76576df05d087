// Measures announces while the costliest files are uploaded, one after the other, and prints one table. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench:uploads [seconds for each measurement]
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { withManyFiles, withManyKeys, withPieceLayers } from '../tests/support/costly-torrents.ts'
import { makeTorrent } from '../tests/support/make-torrent.ts'
import { measure } from './load.ts'
import { startOurs } from './servers.ts'
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
    const until = performance.now() + seconds * 1_000
    const [announces, uploads] = await Promise.all([measure(target, LOAD), uploadUntil(until, files, cookie)])
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

function print(...cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
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

/** Uploads one file after the other. @returns how long each took, in milliseconds */
async function uploadUntil(end: number, files: readonly Buffer[], cookie: string): Promise<readonly number[]> {
  const took: number[] = []
  for (let n = 0; files.length > 0 && performance.now() < end; n += 1) {
    const form = new FormData()
    form.append('category', 'tv')
    form.append('torrent', new Blob([Uint8Array.from(files[n % files.length] ?? [])]), 'x.torrent')
    const started = performance.now()
    const answer = await fetch(`${target.url}/api/torrents`, { method: 'POST', headers: { cookie }, body: form })
    await answer.arrayBuffer()
    if (answer.status !== 201 && answer.status !== 409) throw new Error(`an upload was ${String(answer.status)}`)
    took.push(performance.now() - started)
  }
  return took
}
