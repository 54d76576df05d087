import { expect, test } from '@jest/globals'
import { type InfoHash, infoHashFromBytes, type PeerId, parsePeerId } from '@vault-and-tracker/bencode-tracker'
import fc from 'fast-check'
import { type ScannedMessage, scanMessage } from './socket-message-scanner.ts'
import { type ClientMessage, type KnownPeer, parseClientMessage } from './socket-messages.ts'
import { quote } from './socket-replies.ts'

const INFO_HASH = Buffer.from(Array.from({ length: 20 }, (_, i) => i * 13))
const PEER_ID = '-WW0102-"\\\u0000\u00e9abcdefgh'
const infoHashText = INFO_HASH.toString('latin1')

const known = new Map<string, KnownPeer>([
  [
    quote(infoHashText),
    {
      infoHash: infoHashFromBytes(INFO_HASH) as InfoHash,
      infoHashJson: quote(infoHashText),
      peerId: parsePeerId(Buffer.from(PEER_ID, 'latin1').toString('hex')) as PeerId,
      peerIdText: PEER_ID,
      peerIdJson: quote(PEER_ID),
    },
  ],
])

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

/** The members that are passed on are read, since one string has several forms in JSON. */
function read(message: ScannedMessage<KnownPeer> | ClientMessage | undefined): unknown {
  if (message !== undefined && 'peer' in message) {
    const { peer, ...said } = message
    expect(peer).toBe(known.get(message.infoHashJson))
    return read(said)
  }
  const members = (text: string): unknown => JSON.parse(Buffer.from(`{${text}`, 'latin1').toString())
  if (message?.kind === 'announce')
    return { ...message, offers: message.offers.map((offer) => ({ ...offer, members: members(offer.members) })) }
  return message?.kind === 'answer' ? { ...message, members: members(message.members) } : message
}

const id = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)), size: '-1' })
const twenty = fc
  .array(fc.integer({ min: 0, max: 255 }), { minLength: 20, maxLength: 20 })
  .map((bytes) => String.fromCharCode(...bytes))
const description = fc.string({ unit: 'binary', maxLength: 40 })
const count = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(0, 1, 20, 21, 1e15))
const offer = fc.record({ offer: fc.record({ type: fc.constant('offer'), sdp: description }), offer_id: twenty })

/** As `bittorrent-tracker` writes them. */
const announce = fc.record(
  {
    numwant: fc.nat(20),
    uploaded: fc.nat(),
    downloaded: fc.nat(),
    left: fc.nat(),
    event: fc.constantFrom('started', 'completed', 'stopped', 'paused'),
    action: fc.constant('announce'),
    info_hash: fc.constant(infoHashText),
    peer_id: fc.constant(PEER_ID),
    offers: fc.array(offer, { maxLength: 10 }),
  },
  { requiredKeys: ['action', 'info_hash', 'peer_id'] },
)
const answer = fc.record({
  action: fc.constant('announce'),
  info_hash: fc.constant(infoHashText),
  peer_id: fc.constant(PEER_ID),
  to_peer_id: twenty,
  answer: fc.record({ type: fc.constant('answer'), sdp: description }),
  offer_id: twenty,
})

test('what clients write is read in one pass, to what the full parser reads', () => {
  fc.assert(
    fc.property(fc.oneof(announce, answer), (message) => {
      const text = bytesOf(JSON.stringify(message))
      const scanned = scanMessage(text, known)
      expect(scanned).toBeDefined()
      expect(scanMessage(text, known, known.get(quote(infoHashText)))).toEqual(scanned)
      expect(read(scanned)).toEqual(read(parseClientMessage(text)))
    }),
    { numRuns: 2_000 },
  )
})

/** Members in any order, some twice, some of the wrong type, some unknown. */
const member = fc.oneof(
  fc.tuple(fc.constant('action'), fc.constantFrom('announce', 'scrape')),
  fc.tuple(fc.constant('info_hash'), fc.oneof(fc.constant(infoHashText), twenty, id)),
  fc.tuple(fc.constant('peer_id'), fc.oneof(fc.constant(PEER_ID), twenty)),
  fc.tuple(fc.constantFrom('to_peer_id', 'offer_id'), fc.oneof(twenty, id, fc.constant('\u0100'.repeat(20)))),
  fc.tuple(fc.constantFrom('uploaded', 'downloaded', 'left', 'numwant'), fc.oneof(count, fc.double(), fc.constant(-1))),
  fc.tuple(fc.constant('event'), fc.constantFrom('started', 'update', '', 'x', null)),
  fc.tuple(fc.constant('offers'), fc.oneof(fc.array(offer, { maxLength: 25 }), fc.constant([null]))),
  fc.tuple(
    fc.constant('answer'),
    fc.record({ type: fc.constantFrom('answer', 'offer'), sdp: fc.oneof(description, fc.constant(5)) }),
  ),
  fc.tuple(fc.string(), fc.jsonValue()),
)
const REQUIRED: readonly (readonly [string, unknown])[] = [
  ['action', 'announce'],
  ['info_hash', infoHashText],
  ['peer_id', PEER_ID],
]

test('whatever is read in one pass is what the full parser reads', () => {
  const members = fc.tuple(fc.array(member, { maxLength: 5 }), fc.boolean()).chain(([some, isComplete]) => {
    const all = isComplete ? [...REQUIRED, ...some] : some
    return fc.shuffledSubarray(all, { minLength: all.length })
  })
  let scans = 0
  fc.assert(
    fc.property(members, (list) => {
      const text = bytesOf(
        `{${list.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`,
      )
      const scanned = scanMessage(text, known)
      expect(scanMessage(text, known, known.get(quote(infoHashText)))).toEqual(scanned)
      if (scanned === undefined) return
      scans += 1
      expect(read(scanned)).toEqual(read(parseClientMessage(text)))
    }),
    { numRuns: 20_000 },
  )
  expect(scans).toBeGreaterThan(100)
})

test('a message that is cut off, or has one byte changed, is read as the full parser reads it', () => {
  const text = bytesOf(
    JSON.stringify({
      action: 'announce',
      info_hash: infoHashText,
      peer_id: PEER_ID,
      left: 5,
      numwant: 2,
      offers: [{ offer: { type: 'offer', sdp: 'v=0\r\n"\\é' }, offer_id: 'o'.repeat(20) }],
    }),
  )
  const bytes = [0, 0x0a, 0x20, 0x22, 0x2c, 0x30, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d]
  for (let at = 0; at < text.length; at++) {
    const changed = bytes.map((byte) => text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1))
    for (const each of [text.slice(0, at), ...changed]) {
      const scanned = scanMessage(each, known)
      if (scanned !== undefined) expect(read(scanned)).toEqual(read(parseClientMessage(each)))
    }
  }
})
