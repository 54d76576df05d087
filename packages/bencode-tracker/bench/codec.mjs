// What one core does per second. Build first: `pnpm build && pnpm --filter bencode-tracker bench`.
import { randomBytes } from 'node:crypto'
import { parse as parseQueryString } from 'node:querystring'
import {
  announceListReply,
  announceReply,
  failureReply,
  parseAnnounceQuery,
  parsePeerId,
  parseScrapeQuery,
  parseTrackerTarget,
  prepareUpload,
  scrapeReply,
} from '@vault-and-tracker/bencode-tracker'
import { decodeBencode, encodeBencode, parseTorrent } from '@vault-and-tracker/bencode-tracker/testing'
import npmBencode from 'bencode'

const SECONDS = 1

/**
 * Escapes like libtorrent: letters and digits stand bare.
 *
 * @param {Buffer} bytes
 */
const escape = (bytes) =>
  Array.from(bytes, (byte) => {
    const text = String.fromCharCode(byte)
    return /^[0-9A-Za-z]$/.test(text) ? text : `%${byte.toString(16).padStart(2, '0')}`
  }).join('')

/** A full announce of libtorrent, 16 parameters. Different ones, so that nothing is answered from a cache. */
const targets = Array.from(
  { length: 64 },
  () =>
    `/announce?passkey=${randomBytes(20).toString('hex')}&info_hash=${escape(randomBytes(20))}` +
    `&peer_id=-qB4630-${escape(randomBytes(12))}&port=51413&uploaded=123456789&downloaded=0&left=987654321&corrupt=0` +
    '&key=1A2B3C4D&event=started&numwant=200&compact=1&no_peer_id=1&supportcrypto=1&redundant=0',
)
/** @param {readonly string[]} list @param {number} i */
const at = (list, i) => list[i] ?? ''
const queries = targets.map((target) => target.slice('/announce?'.length))
const scrape = Array.from({ length: 74 }, () => `info_hash=${escape(randomBytes(20))}`).join('&')

const counts = { complete: 123, downloaded: 4567, incomplete: 89 }
const reply = {
  ...counts,
  interval: 1834,
  minInterval: 900,
  externalIp: randomBytes(4),
  peers: randomBytes(45 * 6),
  peers6: randomBytes(5 * 18),
}
/** The same reply for the generic encoders. */
const dictionary = {
  ...counts,
  'external ip': reply.externalIp,
  interval: reply.interval,
  'min interval': reply.minInterval,
  peers: reply.peers,
  peers6: reply.peers6,
}
const listed = Array.from({ length: 50 }, () => ({
  address: randomBytes(4),
  port: 51413,
  peerId: expected(parsePeerId(randomBytes(20).toString('hex'))),
}))
const parsedScrape = parseScrapeQuery(scrape)
if (!parsedScrape.ok) throw new Error('the scrape is malformed')
const scraped = parsedScrape.request.infoHashes.map((infoHash) => ({ infoHash, downloaders: 50, ...counts }))

const FILES = 1000
const LENGTH = 1_000_000
const PIECE_LENGTH = 2 ** 20
const torrent = encodeBencode({
  announce: 'http://tracker.example/announce',
  info: {
    files: Array.from({ length: FILES }, (_, i) => ({ length: LENGTH, path: ['folder', `file ${i}.bin`] })),
    name: 'a thousand files',
    'piece length': PIECE_LENGTH,
    pieces: randomBytes(20 * Math.ceil((FILES * LENGTH) / PIECE_LENGTH)),
  },
})

/** @type {Record<string, (i: number) => unknown>} */
const rows = {
  'parse an announce': (i) => parseAnnounceQuery(at(queries, i)),
  'reply to an announce, 50 peers': () => announceReply(reply),
  'parse an announce and reply': (i) => [parseAnnounceQuery(at(queries, i)), announceReply(reply)],
  'the same from the request target': (i) => {
    const target = parseTrackerTarget(at(targets, i))
    return target?.ok ? [parseAnnounceQuery(target.rawQuery), announceReply(reply)] : undefined
  },
  'reply to an announce, list of 50': () => announceListReply({ ...reply, peers: listed, noPeerId: false }),
  'reply with a failure': () => failureReply('unregistered_torrent', reply),
  'parse a scrape of 74': () => parseScrapeQuery(scrape),
  'reply to a scrape of 74': () => scrapeReply(scraped, 900),
  'decode a torrent of 1,000 files': () => decodeBencode(torrent),
  'check a torrent of 1,000 files': () => parseTorrent(torrent),
  'prepare an upload of 1,000 files': () => prepareUpload(torrent, { source: 'SITE' }),
  'for comparison: querystring parses the announce (ids wrong)': (i) => parseQueryString(at(queries, i)),
  'for comparison: URLSearchParams parses it (ids wrong)': (i) => new URLSearchParams(at(queries, i)).get('info_hash'),
  'for comparison: npm bencode encodes the reply': () => npmBencode.encode(dictionary),
  'for comparison: encodeBencode encodes the reply': () => encodeBencode(dictionary),
  'for comparison: npm bencode decodes the torrent': () => npmBencode.decode(torrent),
}

console.log(`Node ${process.version}, ${SECONDS} s of processor time each, after as much to warm up\n`)
console.log('| operation | per second | µs each |\n|---|---:|---:|')
for (const [name, run] of Object.entries(rows)) {
  measure(run)
  const perSecond = measure(run)
  console.log(`| ${name} | ${Math.round(perSecond).toLocaleString('en')} | ${(1e6 / perSecond).toFixed(2)} |`)
}

/**
 * Calls per second of processor time, so that other work on the machine does not count.
 *
 * @param {(i: number) => unknown} run
 */
function measure(run) {
  let count = 0
  let spent = 0
  const before = process.cpuUsage()
  while (spent < SECONDS * 1e6) {
    for (let i = 0; i < 256; i += 1) run(i & 63)
    count += 256
    const { user, system } = process.cpuUsage(before)
    spent = user + system
  }
  return (count * 1e6) / spent
}

/**
 * @template T
 * @param {T | undefined} value
 * @returns {T}
 */
function expected(value) {
  if (value === undefined) throw new Error('a value is missing')
  return value
}
