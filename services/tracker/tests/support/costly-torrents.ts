import { createHash } from 'node:crypto'
import { encodeBencode } from '@vault-and-tracker/bencode-tracker/testing'

const PIECE_LENGTH = 16_384

/** A .torrent of 5 MB with 499,000 keys outside the info dictionary, all of which are read and discarded. */
export function withManyKeys(name: string, keys = 499_000): Buffer {
  const extra = new Map(Array.from({ length: keys }, (_, i) => [i.toString(36).padStart(4, '0'), 0]))
  // Bytewise before `info`, as keys have to ascend.
  return encodeBencode(
    new Map<string, Parameters<typeof encodeBencode>[0]>([
      ['extra', extra],
      ['info', onePiece(name)],
    ]),
  )
}

/** A .torrent with this number of files. */
export function withManyFiles(name: string, files = 50_000): Buffer {
  const list = Array.from({ length: files }, (_, i) => ({ length: 1, path: ['folder', `file ${String(i)}.bin`] }))
  const pieces = Buffer.alloc(20 * Math.ceil(files / PIECE_LENGTH), 1)
  return encodeBencode({ info: { files: list, name, 'piece length': PIECE_LENGTH, pieces } })
}

/** A v2 .torrent (BEP 52) of one file whose piece layer has this number of bytes. */
export function withPieceLayers(name: string, bytes = 10 * 1024 ** 2 - 4_096): Buffer {
  const layer = Buffer.alloc(bytes - (bytes % 32), 7)
  const length = (layer.length / 32) * PIECE_LENGTH
  const root = rootOf(layer)
  const tree = new Map([[name, new Map([['', { length, 'pieces root': root }]])]])
  return encodeBencode({
    info: { 'file tree': tree, 'meta version': 2, name, 'piece length': PIECE_LENGTH },
    'piece layers': new Map([[root.toString('latin1'), layer]]),
  })
}

function onePiece(name: string) {
  return { length: 1, name, 'piece length': PIECE_LENGTH, pieces: Buffer.alloc(20, 1) }
}

/** The root over the hashes of pieces of one block; an odd hash is paired with zeros. */
function rootOf(layer: Buffer): Buffer {
  let level = layer
  let missing: Buffer = Buffer.alloc(32)
  while (level.length > 32) {
    const whole = level.length % 64 === 0 ? level : Buffer.concat([level, missing])
    const above = Buffer.alloc(whole.length / 2)
    for (let i = 0; i < above.length; i += 32) above.set(sha256(whole.subarray(2 * i, 2 * i + 64)), i)
    level = above
    missing = sha256(Buffer.concat([missing, missing]))
  }
  return level
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
