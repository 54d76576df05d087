import { decodeBencode } from '@vault-and-tracker/bencode-tracker/testing'
import { randomFrom } from '@vault-and-tracker/dev-env'
import { announceQuery, percentBytes } from './announcer.ts'

/** The users and torrents in the requests of a corpus. */
export type CorpusWorld = {
  /** One passkey a user, or one undefined a client in open mode. */
  readonly passkeys: readonly (string | undefined)[]
  /** Info hashes of each torrent; a hybrid has two. */
  readonly torrents: readonly (readonly string[])[]
}

/** A request: the bytes of an HTTP request, and how far the clock moves before it. */
export type CorpusRequest = { readonly target: string; readonly headers: string }

const EVENTS = ['', '', '', '', 'started', 'started', 'completed', 'stopped', 'paused', 'empty', 'born']
const ODD = [
  '&port=0',
  '&numwant=-1',
  '&numwant=junk',
  '&compact=2',
  '&left=-5',
  '&uploaded=9007199254740993',
  '&info_hash=abc',
  '&key=%zz',
  '&peer_id=short',
  '&ip=1.2.3.4',
  '&x=%ff&y=é',
  '&trackerid=abc%00',
  `&z=${'a'.repeat(4100)}`,
]

/**
 * Groups of requests that cover everything a client can send. The requests of a group have different users and
 * torrents, so their order does not matter.
 *
 * @param seed the same world and seed give the same groups
 */
export function* corpusOf(world: CorpusWorld, seed: number): Generator<{ advanceMs: number; group: CorpusRequest[] }> {
  const random = randomFrom(seed)
  const int = (below: number): number => Math.floor(random() * below)
  const one = <T>(of: readonly T[]): T => of[int(of.length)] as T
  let late = 0
  const transferred = new Map<string, number>()

  const addressOf = (user: number, client: number, isV6: boolean): string =>
    isV6 ? `2001:db8:${String(user)}::${String(client + 1)}` : `5.${String(user)}.0.${String(client + 1)}`

  const announceOf = (user: number, torrent: readonly string[], which: number): CorpusRequest => {
    const passkey = world.passkeys[user]
    const client = int(random() < 0.1 ? 7 : 3)
    const key = `${String(user)} ${String(client)} ${String(which)}`
    const moved = (transferred.get(key) ?? 0) + (random() < 0.1 ? -int(50_000) : int(200_000))
    transferred.set(key, Math.max(moved, 0))
    const isV6 = random() < 0.15
    const parameters = announceQuery({
      infoHash: one(torrent),
      peerId: `-${one(['qB4650', 'TR4050', 'XX0001'])}-u${String(user).padStart(4, '0')}c${String(client)}xxxxx`,
      port: random() < 0.02 ? one([80, 6881, 8080, 1023]) : 20_000 + client,
      uploaded: Math.max(moved, 0),
      downloaded: int(1_000_000),
      left: random() < 0.45 ? 0 : 1 + int(1_000_000),
      ...(random() < 0.5 && { event: one(EVENTS) }),
      ...(random() < 0.7 && { compact: int(2) }),
      ...(random() < 0.2 && { no_peer_id: int(2) }),
      ...(random() < 0.5 && { numwant: one([0, 1, 5, 30, 50, 100, 200]) }),
      ...(random() < 0.2 && { key: `k${String(client)}` }),
      ...(random() < 0.05 && { trackerid: 'track' }),
    })
    const query = parameters + (random() < 0.03 ? one(ODD) : '')
    const forms = [
      `/announce?passkey=${String(passkey)}&${query}`,
      `/announce/${String(passkey)}?${query}`,
      `/${String(passkey)}/announce?${query}`,
      `/announce?passkey=${String(passkey)}?${query}`,
    ]
    const target = passkey === undefined ? `/announce?${query}` : one(forms)
    return { target, headers: `X-Forwarded-For: ${addressOf(user, client, isV6)}\r\n` }
  }

  const scrapeOf = (user: number): CorpusRequest => {
    const hashes = Array.from({ length: int(4) }, () => one(one(world.torrents)))
    const query = hashes.map((hash) => `info_hash=${percentBytes(Buffer.from(hash, 'hex'))}`).join('&')
    const passkey = world.passkeys[user]
    const target = passkey === undefined ? `/scrape?${query}` : `/scrape?passkey=${passkey}&${query}`
    return { target, headers: `X-Forwarded-For: ${addressOf(user, 0, false)}\r\n` }
  }

  for (;;) {
    const users = world.passkeys.map((_, i) => i).toSorted(() => random() - 0.5)
    const isScrape = random() < 0.1
    const torrents = world.torrents.map((_, i) => i).toSorted(() => random() - 0.5)
    const size = Math.min(users.length, torrents.length, 12)
    const group = Array.from({ length: size }, (_, i) => {
      const which = random() < 0.5 ? (torrents[i] ?? 0) : i % 3 === 0 && i === 0 ? 0 : (torrents[i] ?? 0)
      return isScrape ? scrapeOf(users[i] ?? 0) : announceOf(users[i] ?? 0, world.torrents[which] ?? [], which)
    })
    const dice = random()
    // Ages of peers are near multiples of 700 s, so none is near the 3,900 s that a peer lives.
    const offset = random() < 0.7 ? 0 : one([5, 20, 40])
    const seconds = (dice < 0.5 ? 0 : dice < 0.98 ? 700 : 7000) + offset
    const advanceMs = 1000 * (seconds < 700 ? Math.max(seconds - late, 0) : seconds - late)
    late = seconds < 700 ? Math.max(offset, late) : offset
    yield { advanceMs, group: isScrape ? group : uniqueTorrents(group) }
  }
}

/** Without a second announce of one torrent. */
function uniqueTorrents(group: readonly CorpusRequest[]): CorpusRequest[] {
  const seen = new Set<string>()
  return group.filter(({ target }) => {
    const hash = /info_hash=([^&]*)/.exec(target)?.[1] ?? ''
    if (seen.has(hash)) return false
    seen.add(hash)
    return true
  })
}

/** An answer without its random parts: order and choice of peers, jitter of intervals, dates, ids. */
export function normalized(answer: string, numwant: number, torrents: CorpusWorld['torrents']): string {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1')
  const kept = head.replaceAll(/^(?:Date|Content-Length): .*\r\n/gm, '').replaceAll('\r\n', ' | ')
  if (body[0] !== 0x64) return `${kept} ${body.toString('latin1')}`
  const fields = bencoded(body)
  if (!('failure reason' in fields) && typeof fields['interval'] === 'number') {
    const { interval } = fields
    fields['interval'] = [1800, 300].find((each) => interval >= each && interval < each * 1.1) ?? interval
  }
  const { files } = fields
  if (files !== undefined) {
    const nameOf = (hash: string): number =>
      torrents.findIndex((of) => of.includes(Buffer.from(hash, 'latin1').toString('hex')))
    fields['files'] = Object.entries(files as Record<string, unknown>)
      .map(([hash, counts]): [number, unknown] => [nameOf(hash), counts])
      .toSorted(([a], [b]) => a - b)
  }
  const peers = peersOf(fields)
  delete fields['peers']
  delete fields['peers6']
  return `${kept} ${JSON.stringify(fields)} ${peers.length < numwant ? peers.toSorted().join(' ') : 'many'}`
}

function bencoded(body: Buffer): Record<string, unknown> {
  const plain = (value: ReturnType<typeof decodeBencode>): unknown => {
    if (value.kind === 'integer') return value.value
    if (value.kind === 'bytes') return value.value.toString('latin1')
    if (value.kind === 'list') return value.items.map(plain)
    return Object.fromEntries([...value.entries].map(([key, each]) => [key, plain(each)]))
  }
  return plain(decodeBencode(body)) as Record<string, unknown>
}

function peersOf({ peers, peers6 }: Record<string, unknown>): string[] {
  if (Array.isArray(peers)) return peers.map((each) => JSON.stringify(each))
  const cut = (bytes: unknown, length: number): string[] =>
    typeof bytes !== 'string'
      ? []
      : Array.from({ length: bytes.length / length }, (_, i) =>
          Buffer.from(bytes.slice(i * length, (i + 1) * length), 'latin1').toString('hex'),
        )
  return [...cut(peers, 6), ...cut(peers6, 18)]
}
