import { addressToText } from './address.ts'
import { bytesText, integerText, stringText } from './bencode-text.ts'
import type { PeerId } from './brand.ts'
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
  const { peers, peers6 } = reply
  const head = `${fieldsBeforePeers(reply)}5:peers${peers.length}:`
  const middle = `6:peers6${peers6.length}:`
  const tail = fieldsAfterPeers(reply)
  const bytes = Buffer.allocUnsafe(head.length + peers.length + middle.length + peers6.length + tail.length)
  let at = bytes.write(head, 0, 'latin1')
  bytes.set(peers, at)
  at += peers.length
  at += bytes.write(middle, at, 'latin1')
  bytes.set(peers6, at)
  at += peers6.length
  bytes.write(tail, at, 'latin1')
  return bytes
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
    text += `d2:ip${ip.length}:${ip}${id}4:port${integerText(port)}e`
  }
  return Buffer.from(`${text}e${fieldsAfterPeers(reply)}`, 'latin1')
}

function fieldsBeforePeers(reply: AnnounceReplyFields): string {
  const { externalIp } = reply
  const external = externalIp === undefined ? '' : `11:external ip${bytesText(externalIp)}`
  return (
    `d8:complete${integerText(reply.complete)}10:downloaded${integerText(reply.downloaded)}${external}` +
    `10:incomplete${integerText(reply.incomplete)}8:interval${integerText(reply.interval)}` +
    `12:min interval${integerText(reply.minInterval)}`
  )
}

function fieldsAfterPeers({ trackerId, warning }: AnnounceReplyFields): string {
  let tail = ''
  if (trackerId !== undefined) tail += `10:tracker id${stringText(trackerId)}`
  if (warning !== undefined) tail += `15:warning message${stringText(warning)}`
  return `${tail}e`
}
