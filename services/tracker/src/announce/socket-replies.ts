import {
  type FailureName,
  failureReason,
  type ScrapedTorrent,
  type TrackerAction,
} from '@vault-and-tracker/bencode-tracker'
import type { Offer } from './signalling.ts'

// What the tracker says over WebSockets. Every message is returned in bytes: one character, U+0000 to U+00FF, for each
// byte of its UTF-8, so that session descriptions are copied as they came.

/** The characters that stand for the bytes of a hex string. */
export function textOf(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1')
}

/** What JSON writes as it is (RFC 8259 section 7), in one byte each. */
const PLAIN = /^[ !#-[\]-~]*$/

/** A string of the protocol as JSON, in bytes. */
export function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : bytesOf(JSON.stringify(text))
}

/** The reply to an announce. Clients read the minimum interval under either name. */
export function announceMessage(reply: {
  infoHashJson: string
  complete: number
  incomplete: number
  downloaded: number
  interval: number
  minInterval: number
  warning: string | undefined
}): string {
  const { infoHashJson, minInterval, interval, complete, incomplete, downloaded, warning } = reply
  const warned = warning === undefined ? '' : `,"warning message":${quote(warning)}`
  return `{"action":"announce","info_hash":${infoHashJson},"complete":${String(complete)},"incomplete":${String(
    incomplete,
  )},"downloaded":${String(downloaded)},"interval":${String(interval)},"min interval":${String(
    minInterval,
  )},"min_interval":${String(minInterval)}${warned}}`
}

/** An offer, as the peer that it goes to gets it; the info hash and the sender's peer id are quoted. */
export function offerMessage(infoHashJson: string, peerIdJson: string, offer: Offer): string {
  return descriptionMessage('offer', infoHashJson, peerIdJson, offer)
}

/** An answer, as the peer that made the offer gets it. */
export function answerMessage(infoHashJson: string, peerIdJson: string, answer: Offer): string {
  return descriptionMessage('answer', infoHashJson, peerIdJson, answer)
}

function descriptionMessage(type: string, infoHashJson: string, peerIdJson: string, offer: Offer): string {
  return `{"action":"announce","info_hash":${infoHashJson},"peer_id":${peerIdJson},"${type}":{"type":"${type}","sdp":"${
    offer.description
  }"},"offer_id":${quote(offer.offerId)}}`
}

/** A refusal. */
export function failureMessage(
  action: TrackerAction,
  infoHashText: string,
  failure: FailureName,
  detail?: string,
): string {
  return bytesOf(JSON.stringify({ action, info_hash: infoHashText, 'failure reason': failureReason(failure, detail) }))
}

/** The answer to a scrape. */
export function scrapeMessage(torrents: readonly ScrapedTorrent[], minRequestInterval: number): string {
  const files = Object.fromEntries(
    torrents.map(({ infoHash, complete, incomplete, downloaded, downloaders }) => [
      textOf(infoHash),
      { complete, incomplete, downloaded, downloaders },
    ]),
  )
  return bytesOf(JSON.stringify({ action: 'scrape', files, flags: { min_request_interval: minRequestInterval } }))
}

/** One character for each byte of UTF-8. */
function bytesOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
