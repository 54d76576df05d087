import { createHash, randomBytes } from 'node:crypto'
import { encodeBencode } from '@vault-and-tracker/bencode-tracker/testing'

/** A well-formed v1 .torrent as a user's program makes it: public, with somebody else's trackers in it. */
export function makeTorrent(
  name: string,
  options: { files?: readonly (readonly [path: string, size: number])[]; size?: number; pieces?: Buffer } = {},
): Buffer {
  const pieceLength = 262_144
  const size = options.files?.reduce((sum, [, bytes]) => sum + bytes, 0) ?? options.size ?? 1_000_000
  const pieces = options.pieces ?? randomBytes(20 * Math.ceil(size / pieceLength))
  const content = options.files
    ? { files: options.files.map(([path, length]) => ({ length, path: path.split('/') })) }
    : { length: size }
  return encodeBencode({
    announce: 'http://elsewhere.test/announce',
    'announce-list': [['http://elsewhere.test/announce']],
    'created by': 'a test',
    info: { name, 'piece length': pieceLength, pieces, ...content },
  })
}

/** A hybrid .torrent (BEP 52) of one file that fits one piece, so its piece layers are empty. */
export function makeHybrid(name: string): Buffer {
  const length = 16_384
  const content = randomBytes(length)
  // One block: the root of the hash tree is the hash of the block.
  const root = createHash('sha256').update(content).digest()
  return encodeBencode({
    announce: 'http://elsewhere.test/announce',
    info: {
      'file tree': new Map([[name, { '': { length, 'pieces root': root } }]]),
      length,
      'meta version': 2,
      name,
      'piece length': length,
      pieces: createHash('sha1').update(content).digest(),
    },
    'piece layers': {},
  })
}

/** The optional parts of an upload, for tests of the use cases. */
export const NO_DETAILS = {
  ...{ anonymous: false, internal: false, scene: false, nfo: null, mediaInfo: null },
  ...{ duplicateReason: null, refuseDuplicate: false },
} as const
