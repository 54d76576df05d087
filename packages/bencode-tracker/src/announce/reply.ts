import { addressToText } from '../address/address.ts'
import { BencodeWriter } from '../bencode/writer.ts'
import type { PeerId } from '../ids.ts'

/** The fields of replies to announces in both forms. */
export type AnnounceReplyFields = {
  /** Seeders. */
  readonly complete: number
  /** Number of peers that completed the torrent. */
  readonly downloaded: number
  /** All other peers, partial seeds included. */
  readonly incomplete: number
  /** Seconds until the next regular announce. */
  readonly interval: number
  /** Minimum seconds until the next announce. */
  readonly minInterval: number
  /** BEP 24: the address the announce came from, as 4 or 16 raw bytes. */
  readonly externalIp?: Uint8Array | undefined
  /** One character U+0000 to U+00FF per byte, as in `AnnounceRequest.trackerId`. */
  readonly trackerId?: string | undefined
  /** Shown to the user; the sentences are in `WARNINGS`. */
  readonly warning?: string | undefined
}

/** The compact form (BEP 23): `peers` contains 6 bytes per peer, `peers6` (BEP 7) 18. Either may be empty. */
export type AnnounceReply = {
  readonly peers: Uint8Array
  readonly peers6: Uint8Array
} & AnnounceReplyFields

/** A peer of the list form. The address has 4 or 16 bytes in network order. */
export type ListedPeer = {
  readonly address: Uint8Array
  readonly port: number
  readonly peerId: PeerId
}

/** The list form (BEP 3), for `compact=0`; `noPeerId` leaves out the peer ids, as `no_peer_id=1` asks. */
export type AnnounceListReply = {
  readonly peers: readonly ListedPeer[]
  readonly noPeerId: boolean
} & AnnounceReplyFields

// Keys of a bencoded dictionary are sorted, so this order is the only one.
const COMPLETE = Buffer.from('d8:complete', 'latin1')
const DOWNLOADED = Buffer.from('10:downloaded', 'latin1')
const EXTERNAL_IP = Buffer.from('11:external ip', 'latin1')
const INCOMPLETE = Buffer.from('10:incomplete', 'latin1')
const INTERVAL = Buffer.from('8:interval', 'latin1')
const MIN_INTERVAL = Buffer.from('12:min interval', 'latin1')
const PEERS = Buffer.from('5:peers', 'latin1')
const PEERS6 = Buffer.from('6:peers6', 'latin1')
const TRACKER_ID = Buffer.from('10:tracker id', 'latin1')
const WARNING_MESSAGE = Buffer.from('15:warning message', 'latin1')
const LIST = Buffer.from('l', 'latin1')
const IP = Buffer.from('d2:ip', 'latin1')
const PEER_ID = Buffer.from('7:peer id', 'latin1')
const PORT = Buffer.from('4:port', 'latin1')
const END = Buffer.from('e', 'latin1')

/** Space for everything with a small bound: all except the peers, the tracker id and the warning. */
const CAPACITY = 320
/** A peer of the list form, with an IPv6 address and a peer id. */
const LISTED_PEER_CAPACITY = 110

/**
 * Encodes a reply to an announce in the compact form (BEP 3, 7, 23, 24). The keys `complete`, `downloaded`,
 * `incomplete`, `interval`, `min interval`, `peers` and `peers6` are always present, the others if given.
 *
 * @param writer reuses memory for many replies; the result is valid until it is cleared
 * @throws {BencodeError} `not_encodable` if a number is not an integer from 0 to 2^53 - 1.
 */
export function announceReply(
  reply: AnnounceReply,
  writer = new BencodeWriter(CAPACITY + reply.peers.length + reply.peers6.length),
): Buffer {
  const { peers, peers6 } = reply
  writeFieldsBeforePeers(writer, reply)
  writer.raw(PEERS)
  writer.bytes(peers)
  writer.raw(PEERS6)
  writer.bytes(peers6)
  writeFieldsAfterPeers(writer, reply)
  return writer.finish()
}

/**
 * Encodes a reply to an announce in the list form (BEP 3): a dictionary of `ip`, `peer id` and `port` per peer of
 * either family, and no `peers6`.
 *
 * @throws {BencodeError} `not_encodable` if a number is not an integer from 0 to 2^53 - 1.
 */
export function announceListReply(reply: AnnounceListReply): Buffer {
  const writer = new BencodeWriter(CAPACITY + reply.peers.length * LISTED_PEER_CAPACITY)
  writeFieldsBeforePeers(writer, reply)
  writer.raw(PEERS)
  writer.raw(LIST)
  for (const { address, port, peerId } of reply.peers) {
    writer.raw(IP)
    writer.latin1(addressToText(address))
    if (!reply.noPeerId) {
      writer.raw(PEER_ID)
      writer.hex(peerId)
    }
    writer.raw(PORT)
    writer.count(port)
    writer.raw(END)
  }
  writer.raw(END)
  writeFieldsAfterPeers(writer, reply)
  return writer.finish()
}

function writeFieldsBeforePeers(writer: BencodeWriter, reply: AnnounceReplyFields): void {
  writer.raw(COMPLETE)
  writer.count(reply.complete)
  writer.raw(DOWNLOADED)
  writer.count(reply.downloaded)
  if (reply.externalIp !== undefined) {
    writer.raw(EXTERNAL_IP)
    writer.bytes(reply.externalIp)
  }
  writer.raw(INCOMPLETE)
  writer.count(reply.incomplete)
  writer.raw(INTERVAL)
  writer.count(reply.interval)
  writer.raw(MIN_INTERVAL)
  writer.count(reply.minInterval)
}

function writeFieldsAfterPeers(writer: BencodeWriter, { trackerId, warning }: AnnounceReplyFields): void {
  if (trackerId !== undefined) {
    writer.raw(TRACKER_ID)
    writer.latin1(trackerId)
  }
  if (warning !== undefined) {
    writer.raw(WARNING_MESSAGE)
    writer.text(warning)
  }
  writer.raw(END)
}
