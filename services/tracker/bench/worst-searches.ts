// What others wait for while three members send the worst searches, 30 a minute each. See docs/performance.md.
// Usage: pnpm build && pnpm --filter tracker bench:worst-searches [torrents] [seconds]
import { setTimeout as sleep } from 'node:timers/promises'
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { passkeyOf } from './numbering.ts'
import { type SignedIn, signIn } from './search-client.ts'
import { startSearchWorld } from './search-world.ts'
import { startOurs, type Target } from './servers.ts'
import { print } from './table.ts'
import { machine } from './world.ts'

/** Ranges, deep pages, common words in an order that no index has, and a row of words that nearly all torrents have. */
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
const A_MINUTE = 30
const OFF = { REST_READ_LIMIT: '0', AUTH_LIMIT: '0', UNKNOWN_PASSKEY_LIMIT: '0' }

let announced = 0
const torrents = Number(process.argv[2] ?? 1_000_000)
const seconds = Number(process.argv[3] ?? 60)
const folder = temporaryFolder('bench')
const world = await startSearchWorld(folder, torrents)
try {
  await world.client.query(
    `update users set password_hash = (select password_hash from users where username = 'user-0')
     where username = any($1)`,
    [Array.from({ length: ATTACKERS + 2 }, (_, i) => `user-${String(i)}`)],
  )
  const service = await startOurs({ ...world, workers: 1, env: OFF })
  process.stdout.write(`${machine()}, ${torrents.toLocaleString('en')} torrents, milliseconds\n\n`)
  print('searches', 'what others do', 'times', 'failed', 'p50', 'p99', 'most')
  print('---', '---', ...Array.from({ length: 5 }, () => '--:'))
  for (const attack of ['none', 'one every two seconds', 'all at once each minute'] as const)
    await measure(service, attack)
  await service.stop()
} finally {
  await world.stop()
  removeTemporaryFolder(folder)
}

type Attack = 'none' | 'one every two seconds' | 'all at once each minute'

async function measure(service: Target, attack: Attack): Promise<void> {
  const { url } = service
  const account = (n: number) => ({ username: `user-${String(n)}`, password: world.password })
  const bystander = await signIn(url, account(0))
  const attackers = await Promise.all(Array.from({ length: ATTACKERS }, (_, i) => signIn(url, account(i + 1))))
  const end = performance.now() + seconds * 1_000
  const answers: string[] = []
  const attacking =
    attack === 'none' ? [] : attackers.map((client, i) => send(url, client, i + 1, attack, end, answers))
  const probes: readonly (readonly [string, number, () => Promise<boolean>])[] = [
    ['sign-in', 2, () => signIn(url, account(ATTACKERS + 1)).then((client) => (client.close(), true))],
    ['a list', 10, () => bystander.get('/api/torrents').then(() => true)],
    ['/ready', 10, () => answersWell(`${url}/ready`)],
    ['an uncached announce', 10, () => announce(url, ++announced)],
  ]
  const measured = await Promise.all(
    probes.map(async ([name, perSecond, run]) => [name, await timesOf(run, perSecond, end)] as const),
  )
  await Promise.all(attacking)
  for (const [name, { times, failed }] of measured) {
    const sorted = times.toSorted((a, b) => a - b)
    const part = (share: number) =>
      (sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN).toFixed(0)
    print(attack, name, String(times.length), String(failed), part(0.5), part(0.99), part(1))
  }
  const kinds = [...new Set(answers)]
    .toSorted()
    .map((kind) => `${kind}: ${String(answers.filter((each) => each === kind).length)}`)
  if (attack !== 'none') process.stdout.write(`The searches were answered with ${kinds.join(', ')}.\n`)
  for (const client of [bystander, ...attackers]) client.close()
}

/** Sends 30 searches a minute, whatever becomes of them. */
async function send(url: string, client: SignedIn, user: number, attack: Attack, end: number, answers: string[]) {
  const sent: Promise<unknown>[] = []
  for (let n = 0; performance.now() < end; n++) {
    const path = WORST[(n + user) % WORST.length] ?? ''
    const target = url + path + (path.startsWith('/api/torznab') ? `&limit=100&apikey=${passkeyOf(user)}` : '')
    sent.push(
      fetch(target, { headers: { cookie: client.cookie } }).then(
        async (answer) => (await answer.arrayBuffer(), answers.push(String(answer.status))),
        () => answers.push('nothing'),
      ),
    )
    if (attack !== 'all at once each minute') await sleep(60_000 / A_MINUTE)
    else if (n % A_MINUTE === A_MINUTE - 1) await sleep(Math.min(60_000, Math.max(0, end - performance.now())))
  }
  await Promise.all(sent)
}

/** Runs something so often, each run on its own, until the end. */
async function timesOf(run: () => Promise<boolean>, perSecond: number, end: number) {
  const times: number[] = []
  const running: Promise<void>[] = []
  let failed = 0
  while (performance.now() < end) {
    const before = performance.now()
    running.push(
      run()
        .catch(() => false)
        .then((isWell) => {
          times.push(performance.now() - before)
          if (!isWell) failed++
        }),
    )
    await sleep(1_000 / perSecond)
  }
  await Promise.all(running)
  return { times, failed }
}

async function answersWell(url: string): Promise<boolean> {
  const answer = await fetch(url)
  await answer.arrayBuffer()
  return answer.ok
}

/** Of a torrent that nobody announced before, as the n-th user: neither is cached. */
async function announce(url: string, n: number): Promise<boolean> {
  const infoHash = (10_000 + n).toString(16).padStart(40, '0')
  const escaped = infoHash.replace(/../g, '%$&')
  const query = `info_hash=${escaped}&peer_id=-qB4650-${String(n).padStart(12, '0')}&port=20000&uploaded=0&downloaded=0&left=1&compact=1`
  const answer = await fetch(`${url}/announce?passkey=${passkeyOf((n % 900) + 100)}&${query}`)
  return (await answer.text()).includes('5:peers')
}
