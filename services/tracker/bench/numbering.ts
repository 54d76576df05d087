// How users, torrents and peers are numbered. announces.lua does the same.
import { type PeerId, parsePeerId } from '@vault-and-tracker/bencode-tracker'

export const USERS = 10_000

/** The 20 bytes of torrent t. */
export function infoHashOf(t: number): Buffer {
  const hash = Buffer.from('\0\0\0\0\0bench-info-hash', 'latin1')
  hash[0] = t % 256
  hash.writeUInt32BE(t, 1)
  return hash
}

/** The torrent of peer p, its number in that torrent, and its user. */
export function placeOf(p: number, torrents: number): { t: number; k: number; user: number } {
  const t = p % torrents
  const k = Math.floor(p / torrents)
  return { t, k, user: (k * 31 + t) % USERS }
}

export function peerIdOf(p: number): PeerId {
  const id = parsePeerId(Buffer.from(`-qB4650-${String(p).padStart(12, '0')}`).toString('hex'))
  if (id === undefined) throw new Error('not a peer id')
  return id
}

/** The port of the k-th peer of a torrent. */
export function portOf(k: number): number {
  return 10_000 + (k % 50_000)
}

export function passkeyOf(user: number): string {
  return user.toString(16).padStart(40, '0')
}

/** The id of user or torrent n: a UUID that ends with the number. */
export function uuidOf(n: number): string {
  return `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
}

/** Its 16 bytes. */
export function idBytes(n: number): Buffer {
  return Buffer.from(uuidOf(n).replaceAll('-', ''), 'hex')
}
