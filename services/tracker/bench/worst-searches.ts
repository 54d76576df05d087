// How long other requests take while three members send the worst searches, 30 a minute each. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench:worst-searches [torrents] [seconds]
import { setTimeout as sleep } from 'node:timers/promises'
import { print, printHead, quantile, whole } from '@vault-and-tracker/dev-env/bench'
import { passkeyOf } from './numbering.ts'
import { startSearchWorld } from './search-world.ts'
import { startOurs } from './servers.ts'

/** Ranges, deep pages, common words in an order without an index, and words that nearly all torrents have. */
const WORST = [
  '/api/torznab?t=tvsearch&season=1-300&ep=1-300&offset=9000',
  '/api/torznab?t=tvsearch&season=2-6&ep=1-10&offset=9000',
  '/api/torznab?t=tvsearch&ep=1-25&q=xvid&offset=9900',
  '/api/torznab?t=search&q=x264&maxsize=1500000000&cat=5000,2000&offset=9900',
  '/api/torrents?search=1080p&sort=seeders&limit=100&page=1000',
  '/api/torrents?search=xvid&sort=leechers&limit=100&page=101',
  '/api/torrents?search=1080p&sort=size&limit=100&page=101',
  '/api/torrents?search=1080p+web+dl+ddp5+1+h+264&sort=leechers&order=asc&limit=100&page=101',
]
const ATTACKERS = 3
const PER_MINUTE = 30

const torrents = Number(process.argv[2] ?? 1_000_000)
const seconds = Number(process.argv[3] ?? 60)
const world = await startSearchWorld(torrents)
const env = { REST_READ_LIMIT: '0', AUTH_LIMIT: '0', UNKNOWN_PASSKEY_LIMIT: '0' }
const service = await startOurs(world, { env })
const { url } = service
let announced = 0
try {
  const columns = ['searches', 'other request', 'count', 'failed', 'p50', 'p99', 'slowest']
  printHead(`${whole(torrents)} torrents, milliseconds`, ...columns)
  for (const attack of ['none', 'one every two seconds', 'all at once each minute'] as const) await measure(attack)
} finally {
  await service.stop()
  await world.stop()
}

type Attack = 'none' | 'one every two seconds' | 'all at once each minute'

async function measure(attack: Attack): Promise<void> {
  const [bystander = '', ...attackers] = await Promise.all(
    Array.from({ length: ATTACKERS + 1 }, (_, user) => world.signIn(url, user)),
  )
  const end = performance.now() + seconds * 1_000
  const statuses: string[] = []
  const attacking = attack === 'none' ? [] : attackers.map((cookie, i) => search(cookie, i + 1, attack, end, statuses))
  const probes: Record<string, readonly [perSecond: number, run: () => Promise<unknown>]> = {
    'sign-in': [2, () => world.signIn(url, ATTACKERS + 1)],
    'a list': [10, () => ask('/api/torrents', bystander)],
    '/ready': [10, () => ask('/ready')],
    'an uncached announce': [10, () => announce(++announced)],
  }
  const measured = await Promise.all(
    Object.entries(probes).map(async ([name, [perSecond, run]]) => ({ name, ...(await timesOf(run, perSecond, end)) })),
  )
  await Promise.all(attacking)
  for (const { name, times, failed } of measured) {
    const cells = [quantile(times), quantile(times, 0.99), Math.max(...times)]
    print(attack, name, times.length, failed, ...cells.map(whole))
  }
  const counted = [...new Set(statuses)].map(
    (status) => `${status} × ${String(statuses.filter((each) => each === status).length)}`,
  )
  if (attack !== 'none') process.stdout.write(`Searches: ${counted.join(', ')}\n`)
}

/** Sends 30 searches a minute and ignores their answers. */
async function search(cookie: string, user: number, attack: Attack, end: number, statuses: string[]): Promise<void> {
  const sent: Promise<unknown>[] = []
  for (let n = 0; performance.now() < end; n++) {
    const path = WORST[(n + user) % WORST.length] ?? ''
    const key = path.startsWith('/api/torznab') ? `&limit=100&apikey=${passkeyOf(user)}` : ''
    sent.push(
      fetch(url + path + key, { headers: { cookie } }).then(
        async (answer) => {
          await answer.arrayBuffer()
          statuses.push(String(answer.status))
        },
        () => statuses.push('no answer'),
      ),
    )
    if (attack !== 'all at once each minute') await sleep(60_000 / PER_MINUTE)
    else if (n % PER_MINUTE === PER_MINUTE - 1) await sleep(Math.min(60_000, Math.max(0, end - performance.now())))
  }
  await Promise.all(sent)
}

/** Starts something at a rate, whether the earlier ones have ended or not. */
async function timesOf(run: () => Promise<unknown>, perSecond: number, end: number) {
  const times: number[] = []
  const running: Promise<void>[] = []
  let failed = 0
  while (performance.now() < end) {
    const started = performance.now()
    const ended = run().catch(() => (failed += 1))
    running.push(ended.then(() => void times.push(performance.now() - started)))
    await sleep(1_000 / perSecond)
  }
  await Promise.all(running)
  return { times, failed }
}

async function ask(path: string, cookie = ''): Promise<string> {
  const answer = await fetch(url + path, { headers: { cookie } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text
}

/** Announces a new torrent as another user, so that neither is cached. */
async function announce(n: number): Promise<void> {
  const infoHash = (10_000 + n).toString(16).padStart(40, '0').replace(/../g, '%$&')
  const query = `info_hash=${infoHash}&peer_id=-qB4650-${String(n).padStart(12, '0')}&port=20000&uploaded=0&downloaded=0&left=1&compact=1`
  const answer = await ask(`/announce?passkey=${passkeyOf((n % 900) + 100)}&${query}`)
  if (!answer.includes('5:peers')) throw new Error(answer)
}
