import {
  type FailureName,
  failureReason,
  type ScrapedTorrent,
  type TrackerAction,
} from '@vault-and-tracker/bencode-tracker'

// What the tracker says over WebSockets. Every message is returned in bytes: one character, U+0000 to U+00FF, for each
// byte of its UTF-8, so that session descriptions are copied as they came.

/** The characters that stand for the bytes of a hex string. */
export function textFromHex(hex: string): string {
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

/** The members of an offer or of an answer that are passed on, with the closing brace of a message behind them. */
export function membersOf(type: 'offer' | 'answer', description: string, offerId: string): string {
  return `"${type}":{"type":"${type}","sdp":"${description}"},"offer_id":${quote(offerId)}}`
}

/** How every offer and answer of a peer begins; what follows are its members. Both names are quoted. */
export function relayStart(infoHashJson: string, peerIdJson: string): string {
  return `{"action":"announce","info_hash":${infoHashJson},"peer_id":${peerIdJson},`
}

/** The same bytes in one piece, for a string that is put together once and used many times. */
export function flat(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('latin1')
}

/** A refusal. */
export function failureMessage(
  action: TrackerAction,
  infoHashJson: string,
  failure: FailureName,
  detail?: string,
): string {
  const reason = quote(failureReason(failure, detail))
  return `{"action":"${action}","info_hash":${infoHashJson},"failure reason":${reason}}`
}

/** The answer to a scrape. */
export function scrapeMessage(torrents: readonly ScrapedTorrent[], minRequestInterval: number): string {
  const files = Object.fromEntries(
    torrents.map(({ infoHash, complete, incomplete, downloaded, downloaders }) => [
      textFromHex(infoHash),
      { complete, incomplete, downloaded, downloaders },
    ]),
  )
  return bytesOf(JSON.stringify({ action: 'scrape', files, flags: { min_request_interval: minRequestInterval } }))
}

/** One character for each byte of UTF-8. */
function bytesOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
