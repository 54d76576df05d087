import {
  type AnnounceEvent,
  type AnnounceRequest,
  type FailureName,
  failureReason,
  type InfoHash,
  parseInfoHash,
  parsePeerId,
  type ScrapedTorrent,
  type TrackerAction,
} from '@vault-and-tracker/bencode-tracker'
import type { Offer } from './signalling.ts'

// The WebTorrent tracker protocol, as bittorrent-tracker speaks it: JSON in text frames. Bytes are strings of as many
// characters, U+0000 to U+00FF.

/** A message of a client. `infoHashText` is the info hash as it came. */
export type ClientMessage =
  | {
      readonly kind: 'announce'
      readonly request: AnnounceRequest
      readonly infoHashText: string
      readonly peerIdText: string
      readonly offers: readonly Offer[]
    }
  | {
      readonly kind: 'answer'
      readonly infoHash: InfoHash
      readonly peerIdText: string
      readonly toPeerId: string
      readonly offerId: string
      readonly sdp: string
    }
  | { readonly kind: 'scrape'; readonly infoHashes: readonly InfoHash[] }
  | {
      readonly kind: 'malformed'
      readonly action: TrackerAction
      readonly infoHashText: string
      readonly failure: FailureName
    }

/** Stands where a message has no readable info hash: clients throw on a message without one. */
export const NO_INFO_HASH = '\0'.repeat(20)
/** Most offers of one announce that are passed on. */
const MAX_OFFERS = 20
/** As over HTTP. */
const MAX_SCRAPED = 74
const MAX_BYTE = 0xff

/** Reads a message; what is wrong with it is said in the words of the failure. */
export function parseClientMessage(text: string): ClientMessage {
  const value = parseJson(text)
  if (!isRecord(value)) return malformed('invalid_message')
  if (value['action'] === 'scrape') return readScrape(value)
  if (value['action'] !== 'announce') return malformed('invalid_message')
  const infoHashText = value['info_hash']
  const infoHash = isBytes(infoHashText) ? parseInfoHash(hexOf(infoHashText)) : undefined
  if (!isBytes(infoHashText) || infoHash === undefined)
    return malformed(infoHashText === undefined ? 'missing_info_hash' : 'invalid_info_hash')
  const peerIdText = value['peer_id']
  if (!isBytes(peerIdText))
    return malformed(peerIdText === undefined ? 'missing_peer_id' : 'invalid_peer_id', infoHashText)
  if (value['answer'] !== undefined && value['answer'] !== null) {
    const answer = readAnswer(value)
    return answer === undefined
      ? malformed('invalid_answer', infoHashText)
      : { kind: 'answer', infoHash, peerIdText, ...answer }
  }
  const request = readAnnounce(value, infoHash, peerIdText)
  if (typeof request === 'string') return malformed(request, infoHashText)
  const offers = readOffers(value['offers'], request.numwant)
  if (offers === undefined) return malformed('invalid_offers', infoHashText)
  return { kind: 'announce', request, infoHashText, peerIdText, offers }
}

function malformed(failure: FailureName, infoHashText = NO_INFO_HASH, action: TrackerAction = 'announce') {
  return { kind: 'malformed', action, infoHashText, failure } as const
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isBytes(value: unknown): value is string {
  if (typeof value !== 'string' || value.length !== 20) return false
  for (let i = 0; i < 20; i++) if (value.charCodeAt(i) > MAX_BYTE) return false
  return true
}

function hexOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex')
}

function readAnnounce(fields: Fields, infoHash: InfoHash, peerIdText: string): AnnounceRequest | FailureName {
  const peerId = parsePeerId(hexOf(peerIdText))
  if (peerId === undefined) return 'invalid_peer_id'
  const uploaded = readCount(fields['uploaded'], 0)
  if (uploaded === undefined || uploaded > Number.MAX_SAFE_INTEGER) return 'invalid_uploaded'
  const downloaded = readCount(fields['downloaded'], 0)
  if (downloaded === undefined || downloaded > Number.MAX_SAFE_INTEGER) return 'invalid_downloaded'
  // WebTorrent does not know it while it has only a magnet link, and leaves it out when it stops.
  const left = readCount(fields['left'], Number.MAX_SAFE_INTEGER)
  if (left === undefined) return 'invalid_left'
  const numwant = readCount(fields['numwant'], MAX_OFFERS)
  if (numwant === undefined) return 'invalid_numwant'
  const event = eventOf(fields['event'])
  if (event === undefined) return 'invalid_event'
  return {
    infoHash,
    peerId,
    port: 0,
    uploaded,
    downloaded,
    left: Math.min(left, Number.MAX_SAFE_INTEGER),
    event,
    compact: true,
    noPeerId: false,
    numwant: Math.min(numwant, MAX_OFFERS),
    key: undefined,
    trackerId: undefined,
    ip: undefined,
    ipv4: undefined,
    ipv6: undefined,
    passkey: undefined,
  }
}

/** A number of bytes or peers; the fallback where there is none. JSON reads a number that is too large as Infinity. */
function readCount(value: unknown, fallback: number): number | undefined {
  if (value === undefined || value === null) return fallback
  if (typeof value !== 'number' || value < 0) return undefined
  return Number.isInteger(value) || value === Number.POSITIVE_INFINITY ? value : undefined
}

function eventOf(value: unknown): AnnounceEvent | undefined {
  switch (value) {
    case undefined:
    case null:
    case '':
    case 'empty':
    case 'update':
      return 'none'
    case 'started':
    case 'completed':
    case 'stopped':
    case 'paused':
      return value
    default:
      return undefined
  }
}

function readOffers(value: unknown, most: number): Offer[] | undefined {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return undefined
  const offers: Offer[] = []
  for (const item of value.slice(0, MAX_OFFERS) as readonly unknown[]) {
    const offerId = isRecord(item) ? item['offer_id'] : undefined
    const sdp = isRecord(item) ? sdpOf(item['offer'], 'offer') : undefined
    if (!isBytes(offerId) || sdp === undefined) return undefined
    offers.push({ offerId, sdp })
  }
  return offers.length > most ? offers.slice(0, most) : offers
}

function readAnswer(fields: Fields): { toPeerId: string; offerId: string; sdp: string } | undefined {
  const toPeerId = fields['to_peer_id']
  const offerId = fields['offer_id']
  const sdp = sdpOf(fields['answer'], 'answer')
  return isBytes(toPeerId) && isBytes(offerId) && sdp !== undefined ? { toPeerId, offerId, sdp } : undefined
}

/** The text of a session description (RFC 8829); its other members are not passed on. */
function sdpOf(value: unknown, type: 'offer' | 'answer'): string | undefined {
  if (!isRecord(value) || value['type'] !== type) return undefined
  return typeof value['sdp'] === 'string' ? value['sdp'] : undefined
}

function readScrape(fields: Fields): ClientMessage {
  const value = fields['info_hash']
  const list: readonly unknown[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  const [first] = list
  const text = isBytes(first) ? first : NO_INFO_HASH
  if (list.length > MAX_SCRAPED) return malformed('too_many_info_hashes', text, 'scrape')
  const infoHashes = new Set<InfoHash>()
  for (const item of list) {
    const infoHash = isBytes(item) ? parseInfoHash(hexOf(item)) : undefined
    if (infoHash === undefined) return malformed('invalid_info_hash', NO_INFO_HASH, 'scrape')
    infoHashes.add(infoHash)
  }
  return { kind: 'scrape', infoHashes: [...infoHashes] }
}

/** The characters that stand for the bytes of a hex string. */
export function textOf(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1')
}

/** The reply to an announce. Clients read the minimum interval under either name. */
export function announceMessage(reply: {
  infoHashText: string
  complete: number
  incomplete: number
  downloaded: number
  interval: number
  minInterval: number
  warning: string | undefined
}): string {
  const { infoHashText, complete, incomplete, downloaded, interval, minInterval, warning } = reply
  return JSON.stringify({
    action: 'announce',
    info_hash: infoHashText,
    complete,
    incomplete,
    downloaded,
    interval,
    'min interval': minInterval,
    min_interval: minInterval,
    'warning message': warning,
  })
}

/** An offer, as the peer that it goes to gets it. */
export function offerMessage(infoHashText: string, peerId: string, { offerId, sdp }: Offer): string {
  const offer = { type: 'offer', sdp }
  return JSON.stringify({ action: 'announce', info_hash: infoHashText, peer_id: peerId, offer, offer_id: offerId })
}

/** An answer, as the peer that made the offer gets it. */
export function answerMessage(infoHashText: string, peerId: string, { offerId, sdp }: Offer): string {
  const answer = { type: 'answer', sdp }
  return JSON.stringify({ action: 'announce', info_hash: infoHashText, peer_id: peerId, answer, offer_id: offerId })
}

/** A refusal. */
export function failureMessage(
  action: TrackerAction,
  infoHashText: string,
  failure: FailureName,
  detail?: string,
): string {
  return JSON.stringify({ action, info_hash: infoHashText, 'failure reason': failureReason(failure, detail) })
}

/** The answer to a scrape. */
export function scrapeMessage(torrents: readonly ScrapedTorrent[], minRequestInterval: number): string {
  const files = Object.fromEntries(
    torrents.map(({ infoHash, complete, incomplete, downloaded, downloaders }) => [
      textOf(infoHash),
      { complete, incomplete, downloaded, downloaders },
    ]),
  )
  return JSON.stringify({ action: 'scrape', files, flags: { min_request_interval: minRequestInterval } })
}
