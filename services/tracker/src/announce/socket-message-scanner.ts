import type { AnnounceEvent } from '@vault-and-tracker/bencode-tracker'
import { endOfString } from './session-descriptions.ts'
import type { Offer } from './signalling.ts'
import {
  type AnnounceMessage,
  type AnswerMessage,
  announceRequest,
  isBytes,
  type KnownPeer,
  MAX_OFFERS,
} from './socket-messages.ts'

// Most messages are written by `JSON.stringify` of a WebTorrent client: no white space, each member once, members of a
// session description in one order. These are read in one pass, without building objects for what is passed on as it is.

const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const CLOSING_BRACKET = 0x5d
const COMMA = 0x2c
const ZERO = 0x30
/** More digits may be above the largest number that is exact. */
const MAX_DIGITS = 15
const ASCII_ID = /^[ !#-[\]-~]{20}$/
const OFFER_START = '{"offer":{"type":"offer","sdp":"'
const OFFER_ID = '},"offer_id":"'
const EVENTS: readonly AnnounceEvent[] = ['started', 'completed', 'stopped', 'paused']

/** The members of a message, one bit each: a second one of a name is left to the full parser. */
const MEMBER = {
  action: 1,
  info_hash: 2,
  peer_id: 4,
  uploaded: 8,
  downloaded: 16,
  left: 32,
  numwant: 64,
  event: 128,
  offers: 256,
  to_peer_id: 512,
  answer: 1024,
  offer_id: 2048,
} as const
const REQUIRED = MEMBER.action | MEMBER.info_hash | MEMBER.peer_id
const OF_ANSWER = REQUIRED | MEMBER.to_peer_id | MEMBER.answer | MEMBER.offer_id

/**
 * Reads an announce or an answer of a peer that has announced before, in the form that clients write.
 *
 * @param text valid UTF-8, one character for each byte
 * @param known the peers of the connection, by the info hash as JSON; the last one that sent a message is tried first
 * @returns undefined for every other message, which says nothing about its validity: `parseClientMessage` reads it
 */
export function scanMessage<Peer extends KnownPeer>(
  text: string,
  known: ReadonlyMap<string, Peer>,
  last?: Peer,
): ScannedMessage<Peer> | undefined {
  if (known.size === 0 || text.charCodeAt(0) !== OPENING_BRACE) return undefined
  scanner.reset(text, last)
  if (!scanner.readMembers()) return undefined
  const peer = scanner.isLastPeer() ? last : scanner.peerAmong(known)
  return peer === undefined ? undefined : scanner.messageOf(peer)
}

/** A message of a peer that has announced before. */
export type ScannedMessage<Peer> = (AnnounceMessage | AnswerMessage) & { readonly peer: Peer }

/** `at` is where the next member starts. There is one for all messages, which are read one after the other. */
class MessageScanner {
  private text = ''
  private at = 0
  private seen = 0
  private last: KnownPeer | undefined = undefined
  /** As JSON; empty where they are those of the last peer. */
  private infoHashJson = ''
  private peerIdJson = ''
  private toPeerId = ''
  private offerId = ''
  private uploaded = 0
  private downloaded = 0
  private left = 0
  private numwant = 0
  private event: AnnounceEvent = 'none'
  private offers: Offer[] = []
  private answerStart = 0
  private answerEnd = 0

  reset(text: string, last: KnownPeer | undefined): void {
    this.text = text
    this.at = 1
    this.seen = 0
    this.last = last
    this.infoHashJson = this.peerIdJson = this.toPeerId = this.offerId = ''
    this.uploaded = this.downloaded = 0
    this.left = Number.MAX_SAFE_INTEGER
    this.numwant = MAX_OFFERS
    this.event = 'none'
    this.offers = []
    this.answerStart = this.answerEnd = 0
  }

  /** Reads to the end of the message; false when it is not in the expected form. */
  readMembers(): boolean {
    const { text } = this
    for (;;) {
      if (!this.readMember()) return false
      const next = text.charCodeAt(this.at)
      this.at += 1
      if (next !== COMMA) return next === CLOSING_BRACE && this.at === text.length
    }
  }

  /** Whether the message is of the last peer. */
  isLastPeer(): boolean {
    return this.last !== undefined && this.infoHashJson === '' && this.peerIdJson === ''
  }

  /** The peer whose message it is. */
  peerAmong<Peer extends KnownPeer>(known: ReadonlyMap<string, Peer>): Peer | undefined {
    const peer = known.get(this.infoHashJson === '' ? (this.last?.infoHashJson ?? '') : this.infoHashJson)
    const peerIdJson = this.peerIdJson === '' ? this.last?.peerIdJson : this.peerIdJson
    return peer?.peerIdJson === peerIdJson ? peer : undefined
  }

  /** The message, when all members are read. */
  messageOf<Peer extends KnownPeer>(peer: Peer): ScannedMessage<Peer> | undefined {
    const { infoHash, infoHashJson, peerId, peerIdText } = peer
    if (this.seen === OF_ANSWER) {
      const { toPeerId, offerId } = this
      const members = `${this.text.slice(this.answerStart, this.answerEnd)}}`
      return { kind: 'answer', peer, infoHashJson, peerIdText, toPeerId, offerId, members }
    }
    const isAnnounce = (this.seen & REQUIRED) === REQUIRED && this.seen < MEMBER.to_peer_id
    if (!isAnnounce) return undefined
    const { uploaded, downloaded, left, numwant, event } = this
    const request = announceRequest({ infoHash, peerId, uploaded, downloaded, left, numwant, event })
    const offers = this.offers.length > numwant ? this.offers.slice(0, numwant) : this.offers
    return { kind: 'announce', peer, request, infoHashJson, peerIdText, offers }
  }

  private readMember(): boolean {
    switch (this.text.charAt(this.at + 1)) {
      case 'a':
        return this.take('"action":"announce"', MEMBER.action) || this.readAnswer()
      case 'i':
        if (!this.take('"info_hash":', MEMBER.info_hash)) return false
        return this.skip(this.last?.infoHashJson) || (this.infoHashJson = this.readString()) !== ''
      case 'p':
        if (!this.take('"peer_id":', MEMBER.peer_id)) return false
        return this.skip(this.last?.peerIdJson) || (this.peerIdJson = this.readString()) !== ''
      case 'u':
        return (this.uploaded = this.readNumber('"uploaded":', MEMBER.uploaded)) >= 0
      case 'd':
        return (this.downloaded = this.readNumber('"downloaded":', MEMBER.downloaded)) >= 0
      case 'l':
        return (this.left = this.readNumber('"left":', MEMBER.left)) >= 0
      case 'n':
        this.numwant = this.readNumber('"numwant":', MEMBER.numwant)
        return this.numwant >= 0 && this.numwant <= MAX_OFFERS
      case 'e':
        return this.readEvent()
      case 'o':
        return this.readOffers() || this.readOfferId()
      case 't':
        return this.take('"to_peer_id":"', MEMBER.to_peer_id) && (this.toPeerId = this.readId()) !== ''
      default:
        return false
    }
  }

  /** Whether the text goes on with this, for the first time; then `at` is behind it. */
  private take(text: string, member: number): boolean {
    if ((this.seen & member) !== 0 || !this.text.startsWith(text, this.at)) return false
    this.seen |= member
    this.at += text.length
    return true
  }

  /** Whether the text goes on with this; then `at` is behind it. */
  private skip(text: string | undefined): boolean {
    if (text === undefined || !this.text.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  /** A string as JSON has it, with its quotation marks; empty when there is none. */
  private readString(): string {
    const end = this.text[this.at] === '"' ? endOfString(this.text, this.at + 1) : -1
    if (end < 0) return ''
    const json = this.text.slice(this.at, end)
    this.at = end
    return json
  }

  /** -1 when there is none. */
  private readNumber(name: string, member: number): number {
    if (!this.take(name, member)) return -1
    const { text } = this
    const start = this.at
    let value = 0
    for (; ; this.at++) {
      const digit = text.charCodeAt(this.at) - ZERO
      if (!(digit >= 0 && digit <= 9)) break
      value = value * 10 + digit
    }
    const digits = this.at - start
    const isNumber = digits > 0 && digits <= MAX_DIGITS && (digits === 1 || text.charCodeAt(start) !== ZERO)
    return isNumber ? value : -1
  }

  private readEvent(): boolean {
    if (!this.take('"event":"', MEMBER.event)) return false
    const event = EVENTS.find((each) => this.text.startsWith(`${each}"`, this.at))
    if (event === undefined) return false
    this.event = event
    this.at += event.length + 1
    return true
  }

  /** Twenty bytes, from behind the opening quotation mark on; empty when it is something else. */
  private readId(): string {
    const start = this.at
    const end = endOfString(this.text, start)
    if (end < 0) return ''
    this.at = end
    const id = this.text.slice(start, end - 1)
    if (ASCII_ID.test(id)) return id
    const decoded: unknown = JSON.parse(Buffer.from(`"${id}"`, 'latin1').toString('utf8'))
    return isBytes(decoded) ? decoded : ''
  }

  private readOffers(): boolean {
    if (!this.take('"offers":[', MEMBER.offers)) return false
    const { text, offers } = this
    if (text.charCodeAt(this.at) === CLOSING_BRACKET) {
      this.at += 1
      return true
    }
    for (;;) {
      const start = this.at
      if (offers.length === MAX_OFFERS || !text.startsWith(OFFER_START, start)) return false
      const end = endOfString(text, start + OFFER_START.length)
      if (end < 0 || !text.startsWith(OFFER_ID, end)) return false
      this.at = end + OFFER_ID.length
      const offerId = this.readId()
      if (offerId === '' || text.charCodeAt(this.at) !== CLOSING_BRACE) return false
      // From behind the opening brace to the closing one, as the tracker writes it too.
      offers.push({ offerId, members: text.slice(start + 1, this.at + 1) })
      const next = text.charCodeAt(this.at + 1)
      this.at += 2
      if (next !== COMMA) return next === CLOSING_BRACKET
    }
  }

  private readAnswer(): boolean {
    const start = this.at
    if (!this.take('"answer":{"type":"answer","sdp":"', MEMBER.answer)) return false
    const end = endOfString(this.text, this.at)
    if (end < 0 || this.text.charCodeAt(end) !== CLOSING_BRACE) return false
    this.answerStart = start
    this.answerEnd = this.at = end + 1
    return true
  }

  /** The offer id of an answer, right behind the answer: both are passed on in one piece. */
  private readOfferId(): boolean {
    if (this.answerStart === 0 || this.answerEnd !== this.at - 1) return false
    if (!this.take('"offer_id":"', MEMBER.offer_id)) return false
    this.offerId = this.readId()
    this.answerEnd = this.at
    return this.offerId !== ''
  }
}

const scanner = new MessageScanner()
