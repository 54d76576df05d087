import { addressToText } from './address.ts'
import { assertCount, bytesText, stringText } from './bencode-text.ts'
import type { PeerId } from './brand.ts'
import { ByteWriter, digitCount } from './byte-writer.ts'
import type { PeerAddress } from './compact-peers.ts'

/** What every reply to an announce says, whichever form its peers have. */
export interface AnnounceReplyFields {
  /** Seeders. */
  readonly complete: number
  /** How many peers have ever completed the torrent. */
  readonly downloaded: number
  /** Everybody else, partial seeds included. */
  readonly incomplete: number
  /** Seconds until the next regular announce. */
  readonly interval: number
  /** Seconds before which no announce is welcome. */
  readonly minInterval: number
  /** BEP 24: the address the announce came from, as 4 or 16 raw bytes. */
  readonly externalIp?: Uint8Array | undefined
  /** One character U+0000 to U+00FF for each byte, as `AnnounceRequest.trackerId` has it. */
  readonly trackerId?: string | undefined
  /** Shown to the user; the sentences are in `WARNINGS`. */
  readonly warning?: string | undefined
}

/** The compact form (BEP 23): `peers` holds 6 bytes a peer, `peers6` (BEP 7) 18; either may be empty. */
export interface AnnounceReply extends AnnounceReplyFields {
  readonly peers: Uint8Array
  readonly peers6: Uint8Array
}

/** A peer of the list form. */
export interface ListedPeer extends PeerAddress {
  readonly peerId: PeerId
}

/** The list form (BEP 3), for `compact=0`; `noPeerId` leaves out the peer ids, as `no_peer_id=1` asks. */
export interface AnnounceListReply extends AnnounceReplyFields {
  readonly peers: readonly ListedPeer[]
  readonly noPeerId: boolean
}

/**
 * The bytes of a reply to an announce in the compact form (BEP 3, 7, 23, 24). The keys `complete`, `downloaded`,
 * `incomplete`, `interval`, `min interval`, `peers` and `peers6` are always there, the others when given.
 *
 * @throws {BencodeError} `not_encodable` when a number is not an integer from 0 to 2^53 - 1.
 */
export function announceReply(reply: AnnounceReply): Buffer {
  const { complete, downloaded, externalIp, incomplete, interval, minInterval, peers, peers6 } = reply
  assertCounts(reply)
  const tail = fieldsAfterPeers(reply)
  const writer = new ByteWriter(
    FIXED_LENGTH +
      digitCount(complete) +
      digitCount(downloaded) +
      (externalIp === undefined ? 0 : lengthOf(EXTERNAL_IP, externalIp)) +
      digitCount(incomplete) +
      digitCount(interval) +
      digitCount(minInterval) +
      lengthOf(PEERS, peers) +
      lengthOf(PEERS6, peers6) +
      tail.length,
  )
  writer.few(COMPLETE)
  writer.integer(complete)
  writer.few(DOWNLOADED)
  writer.integer(downloaded)
  writer.byte(END)
  if (externalIp !== undefined) {
    writeKeyAndLength(writer, EXTERNAL_IP, externalIp)
    writer.few(externalIp)
  }
  writer.few(INCOMPLETE)
  writer.integer(incomplete)
  writer.few(INTERVAL)
  writer.integer(interval)
  writer.few(MIN_INTERVAL)
  writer.integer(minInterval)
  writer.byte(END)
  writeKeyAndLength(writer, PEERS, peers)
  writer.raw(peers)
  writeKeyAndLength(writer, PEERS6, peers6)
  writer.raw(peers6)
  if (tail.length === 1) writer.byte(END)
  else writer.latin1(tail)
  return writer.bytes
}

const END = 0x65
const COLON = 0x3a

// What stands between the numbers. Keys of a bencoded dictionary are sorted, so this order is the only one.
const COMPLETE = Buffer.from('d8:completei', 'latin1')
const DOWNLOADED = Buffer.from('e10:downloadedi', 'latin1')
const EXTERNAL_IP = Buffer.from('11:external ip', 'latin1')
const INCOMPLETE = Buffer.from('10:incompletei', 'latin1')
const INTERVAL = Buffer.from('e8:intervali', 'latin1')
const MIN_INTERVAL = Buffer.from('e12:min intervali', 'latin1')
const PEERS = Buffer.from('5:peers', 'latin1')
const PEERS6 = Buffer.from('6:peers6', 'latin1')

/** Everything that is always there, with the `e` behind `downloaded` and the one behind `min interval`. */
const FIXED_LENGTH =
  COMPLETE.length + DOWNLOADED.length + 1 + INCOMPLETE.length + INTERVAL.length + MIN_INTERVAL.length + 1

/** Length of a key with its byte string: key, length, colon, bytes. */
function lengthOf(key: Uint8Array, value: Uint8Array): number {
  return key.length + digitCount(value.length) + 1 + value.length
}

function writeKeyAndLength(writer: ByteWriter, key: Uint8Array, value: Uint8Array): void {
  writer.few(key)
  writer.integer(value.length)
  writer.byte(COLON)
}

/**
 * The bytes of a reply to an announce in the list form (BEP 3): a dictionary of `ip`, `peer id` and `port` for each
 * peer of either family, and no `peers6`.
 *
 * @throws {BencodeError} `not_encodable` when a number is not an integer from 0 to 2^53 - 1.
 */
export function announceListReply(reply: AnnounceListReply): Buffer {
  let text = `${fieldsBeforePeers(reply)}5:peersl`
  for (const { address, port, peerId } of reply.peers) {
    const ip = addressToText(address)
    const id = reply.noPeerId ? '' : `7:peer id20:${Buffer.from(peerId, 'hex').toString('latin1')}`
    assertCount(port)
    text += `d2:ip${ip.length}:${ip}${id}4:porti${port}ee`
  }
  return Buffer.from(`${text}e${fieldsAfterPeers(reply)}`, 'latin1')
}

function assertCounts({ complete, downloaded, incomplete, interval, minInterval }: AnnounceReplyFields): void {
  assertCount(complete)
  assertCount(downloaded)
  assertCount(incomplete)
  assertCount(interval)
  assertCount(minInterval)
}

function fieldsBeforePeers(reply: AnnounceReplyFields): string {
  assertCounts(reply)
  const external = reply.externalIp === undefined ? '' : `11:external ip${bytesText(reply.externalIp)}`
  return (
    `d8:completei${reply.complete}e10:downloadedi${reply.downloaded}e${external}` +
    `10:incompletei${reply.incomplete}e8:intervali${reply.interval}e12:min intervali${reply.minInterval}e`
  )
}

function fieldsAfterPeers({ trackerId, warning }: AnnounceReplyFields): string {
  let tail = ''
  if (trackerId !== undefined) tail += `10:tracker id${trackerId.length}:${trackerId}`
  if (warning !== undefined) tail += `15:warning message${stringText(warning)}`
  return `${tail}e`
}
