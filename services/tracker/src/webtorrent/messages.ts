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

// The WebTorrent tracker protocol as the npm package bittorrent-tracker implements it: JSON in text frames. Info
// hashes, peer ids and offer ids are strings of twenty characters from U+0000 to U+00FF, one per byte. Written messages
// are strings with one character per byte of their UTF-8.

/** An offer or an answer: the id of the offer, and the text of the session description (RFC 8829). */
export type Offer = {
  readonly offerId: string
  /** The bytes between the quotation marks in the client's JSON. */
  readonly sdp: string
}

type Sender = { readonly infoHash: string; readonly peerId: string }

export type ClientMessage = AnnounceMessage | AnswerMessage | ScrapeMessage | MalformedMessage
export type AnnounceMessage = Sender & {
  readonly kind: 'announce'
  readonly request: AnnounceRequest
  readonly offers: readonly Offer[]
}
export type AnswerMessage = Sender & { readonly kind: 'answer'; readonly toPeerId: string; readonly answer: Offer }
export type ScrapeMessage = { readonly kind: 'scrape'; readonly infoHashes: readonly InfoHash[] }
export type MalformedMessage = {
  readonly kind: 'malformed'
  readonly action: TrackerAction
  readonly infoHash: string
  readonly failure: FailureName
}

/** The info hash in answers to messages without a readable one: clients throw on a message without an info hash. */
export const NO_INFO_HASH = '\0'.repeat(20)
/** Maximum number of relayed offers per announce. */
const MAX_OFFERS = 20
/** The same limit as over HTTP. */
const MAX_SCRAPED = 74
const ABOVE_BYTE = /[^\u0000-\u00ff]/

const EVENTS: ReadonlyMap<string, AnnounceEvent> = new Map([
  ...['', 'empty', 'update'].map((name) => [name, 'none'] as const),
  ...(['started', 'completed', 'stopped', 'paused'] as const).map((name) => [name, name] as const),
])

type Fields = Readonly<Record<string, unknown>>
type Descriptions = readonly string[]

/**
 * Parses a message of a client. Never throws: the result for a malformed message names its failure.
 *
 * @param frame the bytes of a text frame, in valid UTF-8; `undefined` for a binary frame, which is malformed
 */
export function readMessage(frame: Buffer | undefined): ClientMessage {
  const descriptions: string[] = []
  const fields = frame && parseJson(cutDescriptions(frame.toString('latin1'), descriptions))
  if (!isRecord(fields)) return malformed('invalid_message')
  if (fields['action'] === 'scrape') return readScrape(fields)
  if (fields['action'] !== 'announce') return malformed('invalid_message')
  const infoHash = fields['info_hash']
  if (!isBytes(infoHash)) return malformed(infoHash === undefined ? 'missing_info_hash' : 'invalid_info_hash')
  const peerId = fields['peer_id']
  if (!isBytes(peerId)) return malformed(peerId === undefined ? 'missing_peer_id' : 'invalid_peer_id', infoHash)
  const isAnswer = fields['answer'] !== undefined && fields['answer'] !== null
  return (isAnswer ? readAnswer : readAnnounce)(fields, { infoHash, peerId }, descriptions)
}

function malformed(failure: FailureName, infoHash = NO_INFO_HASH, action: TrackerAction = 'announce') {
  return { kind: 'malformed', action, infoHash, failure } as const
}

const BEFORE_TEXT = /"sdp"\s*:\s*"/g
/** Matches the rest of a well-formed string (RFC 8259 section 7) in bytes, with the closing quotation mark. */
const TEXT = /[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y
const NOT_ASCII = /[\u0080-\u00ff]/

/**
 * Extracts the session descriptions of a message, and replaces each with its index. They are most of the data of
 * clients, and are relayed unchanged. Extraction does not affect whether the rest is JSON: within a string, the
 * quotation marks of `"sdp"` are escaped, and no name may follow a string.
 */
export function cutDescriptions(message: string, descriptions: string[]): string {
  let json = ''
  let end = 0
  while (BEFORE_TEXT.test(message)) {
    const start = (TEXT.lastIndex = BEFORE_TEXT.lastIndex)
    if (!TEXT.test(message)) continue
    json += `${message.slice(end, start)}${String(descriptions.length)}`
    end = BEFORE_TEXT.lastIndex = TEXT.lastIndex - 1
    descriptions.push(message.slice(start, end))
  }
  return json + message.slice(end)
}

function parseJson(bytes: string): unknown {
  try {
    return JSON.parse(NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes)
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a string of twenty bytes, one character per byte. */
function isBytes(value: unknown): value is string {
  return typeof value === 'string' && value.length === 20 && !ABOVE_BYTE.test(value)
}

function hexOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex')
}

/** The bytes of a hex string, as a string of the protocol. */
export function textFromHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1')
}

function readAnnounce(fields: Fields, sender: Sender, descriptions: Descriptions): AnnounceMessage | MalformedMessage {
  const invalid = (failure: FailureName): MalformedMessage => malformed(failure, sender.infoHash)
  const infoHash = parseInfoHash(hexOf(sender.infoHash))
  if (infoHash === undefined) return invalid('invalid_info_hash')
  const peerId = parsePeerId(hexOf(sender.peerId))
  if (peerId === undefined) return invalid('invalid_peer_id')
  const uploaded = readCount(fields['uploaded'], 0)
  if (uploaded === undefined || uploaded > Number.MAX_SAFE_INTEGER) return invalid('invalid_uploaded')
  const downloaded = readCount(fields['downloaded'], 0)
  if (downloaded === undefined || downloaded > Number.MAX_SAFE_INTEGER) return invalid('invalid_downloaded')
  // WebTorrent does not know it while it only has a magnet link, and omits it when it stops.
  const left = readCount(fields['left'], Number.MAX_SAFE_INTEGER)
  if (left === undefined) return invalid('invalid_left')
  const want = readCount(fields['numwant'], MAX_OFFERS)
  if (want === undefined) return invalid('invalid_numwant')
  const event = readEvent(fields['event'])
  if (event === undefined) return invalid('invalid_event')
  const offers = readOffers(fields['offers'], descriptions)
  if (offers === undefined) return invalid('invalid_offers')
  const numwant = Math.min(want, MAX_OFFERS)
  const request: AnnounceRequest = {
    infoHash,
    peerId,
    uploaded,
    downloaded,
    left: Math.min(left, Number.MAX_SAFE_INTEGER),
    event,
    numwant,
    compact: true,
    noPeerId: false,
    port: 0,
    key: undefined,
    trackerId: undefined,
    ip: undefined,
    ipv4: undefined,
    ipv6: undefined,
    passkey: undefined,
  }
  return {
    kind: 'announce',
    infoHash: sender.infoHash,
    peerId: sender.peerId,
    request,
    offers: offers.slice(0, numwant),
  }
}

/**
 * Reads a number of bytes or peers, or returns the fallback. JSON.parse returns Infinity for numbers that are too
 * large.
 */
function readCount(value: unknown, fallback: number): number | undefined {
  if (value === undefined || value === null) return fallback
  if (typeof value !== 'number' || value < 0) return undefined
  return Number.isInteger(value) || value === Number.POSITIVE_INFINITY ? value : undefined
}

function readEvent(value: unknown): AnnounceEvent | undefined {
  if (value === undefined || value === null) return 'none'
  return typeof value === 'string' ? EVENTS.get(value) : undefined
}

function readOffers(value: unknown, descriptions: Descriptions): Offer[] | undefined {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return undefined
  const offers: Offer[] = []
  for (const item of value.slice(0, MAX_OFFERS) as readonly unknown[]) {
    const offer = isRecord(item) ? readDescription(item, 'offer', descriptions) : undefined
    if (offer === undefined) return undefined
    offers.push(offer)
  }
  return offers
}

function readAnswer(fields: Fields, sender: Sender, descriptions: Descriptions): AnswerMessage | MalformedMessage {
  const toPeerId = fields['to_peer_id']
  const answer = readDescription(fields, 'answer', descriptions)
  if (!isBytes(toPeerId) || answer === undefined) return malformed('invalid_answer', sender.infoHash)
  return { kind: 'answer', infoHash: sender.infoHash, peerId: sender.peerId, toPeerId, answer }
}

/** Reads a session description and its id. Other members of the description are not relayed. */
function readDescription(fields: Fields, type: 'offer' | 'answer', descriptions: Descriptions): Offer | undefined {
  const { [type]: description, offer_id: offerId } = fields
  if (!isBytes(offerId) || !isRecord(description) || description['type'] !== type) return undefined
  const sdp = typeof description['sdp'] === 'string' ? descriptions[Number(description['sdp'])] : undefined
  return sdp === undefined ? undefined : { offerId, sdp }
}

function readScrape(fields: Fields): ScrapeMessage | MalformedMessage {
  const value = fields['info_hash']
  const list: readonly unknown[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  if (list.length > MAX_SCRAPED)
    return malformed('too_many_info_hashes', isBytes(list[0]) ? list[0] : NO_INFO_HASH, 'scrape')
  const infoHashes = new Set<InfoHash>()
  for (const item of list) {
    const infoHash = isBytes(item) ? parseInfoHash(hexOf(item)) : undefined
    if (infoHash === undefined) return malformed('invalid_info_hash', NO_INFO_HASH, 'scrape')
    infoHashes.add(infoHash)
  }
  return { kind: 'scrape', infoHashes: [...infoHashes] }
}

/** Strings of ASCII characters that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/

/** A string of the protocol as JSON, in bytes. */
export function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : jsonOf(text)
}

function jsonOf(value: unknown): string {
  const json = JSON.stringify(value)
  return Buffer.byteLength(json) === json.length ? json : Buffer.from(json).toString('latin1')
}

/** Writes the reply to an announce. Clients read the minimum interval under either name. */
export function announceReply(
  infoHash: string,
  { complete, incomplete, downloaded }: { complete: number; incomplete: number; downloaded: number },
  { interval, minInterval, warning }: { interval: number; minInterval: number; warning?: string | undefined },
): string {
  const counts = `"complete":${String(complete)},"incomplete":${String(incomplete)},"downloaded":${String(downloaded)}`
  const intervals = `"interval":${String(interval)},"min interval":${String(minInterval)},"min_interval":${String(minInterval)}`
  const warned = warning === undefined ? '' : `,"warning message":${quote(warning)}`
  return `{"action":"announce","info_hash":${quote(infoHash)},${counts},${intervals}${warned}}`
}

/** Writes the common beginning of the offers and answers of a peer. */
export function relayStart(infoHash: string, from: string): string {
  return jsonOf({ action: 'announce', info_hash: infoHash, peer_id: from }).slice(0, -1)
}

/** Writes an offer or an answer. */
export function relayMessage(start: string, type: 'offer' | 'answer', { sdp, offerId }: Offer): string {
  return `${start},"${type}":{"type":"${type}","sdp":"${sdp}"},"offer_id":${quote(offerId)}}`
}

/** Writes a refusal. */
export function failureReply(action: TrackerAction, infoHash: string, failure: FailureName, detail?: string): string {
  return jsonOf({ action, info_hash: infoHash, 'failure reason': failureReason(failure, detail) })
}

/** Writes the answer to a scrape. */
export function scrapeReply(torrents: readonly ScrapedTorrent[], minRequestInterval: number): string {
  const files = Object.fromEntries(torrents.map(({ infoHash, ...counts }) => [textFromHex(infoHash), counts]))
  return jsonOf({ action: 'scrape', files, flags: { min_request_interval: minRequestInterval } })
}
