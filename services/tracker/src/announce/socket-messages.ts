import {
  type AnnounceEvent,
  type AnnounceRequest,
  type FailureName,
  type InfoHash,
  type PeerId,
  parseInfoHash,
  parsePeerId,
  type TrackerAction,
} from '@vault-and-tracker/bencode-tracker'
import { cutDescriptions } from './session-descriptions.ts'
import type { Offer } from './signalling.ts'
import { membersOf, quote } from './socket-replies.ts'

// The WebTorrent tracker protocol, as bittorrent-tracker speaks it: JSON in text frames. Bytes are strings of as many
// characters, U+0000 to U+00FF.

/** An announce of a client. `infoHashJson` is the info hash as `JSON.stringify` writes it, in bytes. */
export type AnnounceMessage = {
  readonly kind: 'announce'
  readonly request: AnnounceRequest
  readonly infoHashJson: string
  readonly peerIdText: string
  readonly offers: readonly Offer[]
}

/** The answer of a client to an offer. */
export type AnswerMessage = {
  readonly kind: 'answer'
  readonly infoHashJson: string
  readonly peerIdText: string
  readonly toPeerId: string
  readonly offerId: string
  /** Likewise as those of an `Offer`. */
  readonly members: string
}

/** A message of a client. */
export type ClientMessage =
  | AnnounceMessage
  | AnswerMessage
  | { readonly kind: 'scrape'; readonly infoHashes: readonly InfoHash[] }
  | {
      readonly kind: 'malformed'
      readonly action: TrackerAction
      readonly infoHashJson: string
      readonly failure: FailureName
    }

/** Stands where a message has no readable info hash: clients throw on a message without one. */
export const NO_INFO_HASH = quote('\0'.repeat(20))
/** Most offers of one announce that are passed on. */
export const MAX_OFFERS = 20
/** As over HTTP. */
const MAX_SCRAPED = 74
const ABOVE_BYTE = /[^\u0000-\u00ff]/

/** A peer that a connection has announced already. */
export type KnownPeer = {
  readonly infoHash: InfoHash
  readonly infoHashJson: string
  readonly peerId: PeerId
  readonly peerIdText: string
  readonly peerIdJson: string
}

/**
 * Reads any message; what is wrong with it is said in the words of the failure.
 *
 * @param text valid UTF-8, one character for each byte
 */
export function parseClientMessage(text: string): ClientMessage {
  const { json, descriptions } = cutDescriptions(text)
  const value = parseJson(json)
  if (!isRecord(value)) return malformed('invalid_message')
  if (value['action'] === 'scrape') return readScrape(value)
  if (value['action'] !== 'announce') return malformed('invalid_message')
  const infoHashText = value['info_hash']
  if (!isBytes(infoHashText)) return malformed(infoHashText === undefined ? 'missing_info_hash' : 'invalid_info_hash')
  const infoHashJson = quote(infoHashText)
  const peerIdText = value['peer_id']
  if (!isBytes(peerIdText))
    return malformed(peerIdText === undefined ? 'missing_peer_id' : 'invalid_peer_id', infoHashJson)
  if (value['answer'] !== undefined && value['answer'] !== null) {
    const answer = readAnswer(value, descriptions)
    return answer === undefined
      ? malformed('invalid_answer', infoHashJson)
      : { kind: 'answer', infoHashJson, peerIdText, ...answer }
  }
  const request = readAnnounce(value, infoHashText, peerIdText)
  if (typeof request === 'string') return malformed(request, infoHashJson)
  const offers = readOffers(value['offers'], request.numwant, descriptions)
  if (offers === undefined) return malformed('invalid_offers', infoHashJson)
  return { kind: 'announce', request, infoHashJson, peerIdText, offers }
}

function malformed(failure: FailureName, infoHashJson = NO_INFO_HASH, action: TrackerAction = 'announce') {
  return { kind: 'malformed', action, infoHashJson, failure } as const
}

const NOT_ASCII = /[\u0080-\u00ff]/

/** Reads JSON in bytes. */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(NOT_ASCII.test(json) ? Buffer.from(json, 'latin1').toString('utf8') : json)
  } catch {
    return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether this is a string of twenty bytes, one character for each. */
export function isBytes(value: unknown): value is string {
  return typeof value === 'string' && value.length === 20 && !ABOVE_BYTE.test(value)
}

function hexOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex')
}

function readAnnounce(fields: Fields, infoHashText: string, peerIdText: string): AnnounceRequest | FailureName {
  const infoHash = parseInfoHash(hexOf(infoHashText))
  if (infoHash === undefined) return 'invalid_info_hash'
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
  return announceRequest({
    infoHash,
    peerId,
    uploaded,
    downloaded,
    left: Math.min(left, Number.MAX_SAFE_INTEGER),
    numwant: Math.min(numwant, MAX_OFFERS),
    event,
  })
}

/** An announce over a socket, without what only HTTP has. */
export function announceRequest(
  said: Pick<AnnounceRequest, 'infoHash' | 'peerId' | 'uploaded' | 'downloaded' | 'left' | 'numwant' | 'event'>,
): AnnounceRequest {
  const { infoHash, peerId, uploaded, downloaded, left, numwant, event } = said
  return {
    infoHash,
    peerId,
    port: 0,
    uploaded,
    downloaded,
    left,
    event,
    compact: true,
    noPeerId: false,
    numwant,
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

function readOffers(value: unknown, most: number, descriptions: readonly string[]): Offer[] | undefined {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return undefined
  const offers: Offer[] = []
  for (const item of value.slice(0, MAX_OFFERS) as readonly unknown[]) {
    const offerId = isRecord(item) ? item['offer_id'] : undefined
    const description = isRecord(item) ? descriptionOf(item['offer'], 'offer', descriptions) : undefined
    if (!isBytes(offerId) || description === undefined) return undefined
    offers.push({ offerId, members: membersOf('offer', description, offerId) })
  }
  return offers.length > most ? offers.slice(0, most) : offers
}

function readAnswer(
  fields: Fields,
  descriptions: readonly string[],
): { toPeerId: string; offerId: string; members: string } | undefined {
  const toPeerId = fields['to_peer_id']
  const offerId = fields['offer_id']
  const description = descriptionOf(fields['answer'], 'answer', descriptions)
  if (!isBytes(toPeerId) || !isBytes(offerId) || description === undefined) return undefined
  return { toPeerId, offerId, members: membersOf('answer', description, offerId) }
}

/** The text of a session description; its other members are not passed on. */
function descriptionOf(value: unknown, type: 'offer' | 'answer', descriptions: readonly string[]): string | undefined {
  if (!isRecord(value) || value['type'] !== type) return undefined
  return typeof value['sdp'] === 'string' ? descriptions[Number(value['sdp'])] : undefined
}

function readScrape(fields: Fields): ClientMessage {
  const value = fields['info_hash']
  const list: readonly unknown[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  const [first] = list
  const infoHashJson = isBytes(first) ? quote(first) : NO_INFO_HASH
  if (list.length > MAX_SCRAPED) return malformed('too_many_info_hashes', infoHashJson, 'scrape')
  const infoHashes = new Set<InfoHash>()
  for (const item of list) {
    const infoHash = isBytes(item) ? parseInfoHash(hexOf(item)) : undefined
    if (infoHash === undefined) return malformed('invalid_info_hash', NO_INFO_HASH, 'scrape')
    infoHashes.add(infoHash)
  }
  return { kind: 'scrape', infoHashes: [...infoHashes] }
}
