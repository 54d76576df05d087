// Measures lists and searches in a catalogue of a million torrents. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench:search [torrents] [samples]
import { Agent, get } from 'node:http'
import { cpuOfTree, measureLoad, print, printHead, quantile, requestOf, whole } from '@vault-and-tracker/dev-env/bench'
import { passkeyOf } from './numbering.ts'
import { filterShapes, REST_SHAPES, type Sample, TORZNAB_SHAPES } from './search-shapes.ts'
import { startSearchWorld } from './search-world.ts'
import { startOurs } from './servers.ts'

const torrents = Number(process.argv[2] ?? 1_000_000)
const count = Number(process.argv[3] ?? 100)
const CONNECTIONS = 8
const SECONDS = 4
const SAMPLES_OF_PAIR = 20
const SLOWEST_PAIRS = 10

const world = await startSearchWorld(torrents)
const service = await startOurs(world, { env: { REST_READ_LIMIT: '1000000' } })
const cpuSeconds = (): number => service.cpuSeconds() + cpuOfTree(world.postgresPid)
const agent = new Agent({ keepAlive: true })
try {
  const cookie = await world.signIn(service.url, 0)
  const { rows: samples } = await world.client.query<Sample>(
    `select encode(info_hash, 'hex') as hash, release_title as title, release_year as year, imdb_id as imdb,
       tvdb_id as tvdb, season_from as season, episode_from as episode, air_date::text as aired, resolution, source,
       codec, hdr[1] as hdr, audio[1] as audio, languages[1] as language, (size / 1048576)::integer as megabytes,
       (select username from users where users.id = uploader_id) as uploader
     from torrents where release_title is not null and abs(hashtext(id::text)) % 997 = 0 order by hashtext(id::text) limit $1`,
    [count],
  )
  let user = 0
  const torznab = (query: string): string => `/api/torznab?${query}&limit=100&apikey=${passkeyOf(user++ % world.users)}`
  for (const [api, shapes, pathOf] of [
    ['REST', REST_SHAPES, (path: string) => path],
    ['Filters', filterShapes(samples), (path: string) => path],
    ['Torznab', TORZNAB_SHAPES, torznab],
  ] as const) {
    printHead(`${whole(torrents)} torrents, milliseconds`, api, 'p50', 'p95', 'slowest', 'CPU', 'requests/s', 'CPU')
    const pairs: (readonly string[])[] = []
    for (const { name, path, isRated = false, isPair = false } of shapes) {
      const measured = isPair ? samples.slice(0, SAMPLES_OF_PAIR) : samples
      const paths = measured.map((sample) => pathOf(path(sample)))
      const rate = isRated ? await throughput(paths, cookie) : []
      const row = [name, ...(await latency(paths, cookie)), ...rate]
      if (isPair) pairs.push(row)
      else print(...row)
    }
    const slowest = pairs.toSorted(([, , a], [, , b]) => Number(b) - Number(a)).slice(0, SLOWEST_PAIRS)
    for (const row of slowest) print(...row)
  }
} finally {
  agent.destroy()
  await service.stop()
  await world.stop()
}

/** One request after the other. The first two do not count. */
async function latency(paths: readonly string[], cookie: string): Promise<readonly string[]> {
  for (const path of paths.slice(0, 2)) await ask(path, cookie)
  const before = cpuSeconds()
  const times: number[] = []
  for (const path of paths) {
    const started = performance.now()
    await ask(path, cookie)
    times.push(performance.now() - started)
  }
  const each = ((cpuSeconds() - before) * 1_000) / times.length
  return [quantile(times), quantile(times, 0.95), Math.max(...times), each].map((ms) => ms.toFixed(1))
}

async function throughput(paths: readonly string[], cookie: string): Promise<readonly string[]> {
  const requests = paths.map((path) => requestOf(service.url, path, { Cookie: cookie }))
  const send = { requests, folder: world.folder }
  const { perSecond, cpuMicros, errors } = await measureLoad(service.url, {
    ...{ send, connections: CONNECTIONS, seconds: SECONDS, cpuSeconds },
  })
  if (errors > 0) throw new Error(`${String(errors)} errors: ${paths[0] ?? ''}`)
  return [whole(perSecond), (cpuMicros / 1_000).toFixed(1)]
}

function ask(path: string, cookie: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(service.url + path, { agent, headers: { cookie } }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`${path} was answered ${String(response.statusCode)}`))
      })
    }).on('error', reject)
  })
}
