// What tests and benches read and write .torrent files and replies with. The product's own way in is the package itself.
import { decodeRoot, readTorrent } from './torrent/parse.ts'
import type { Torrent, TorrentLimits } from './torrent/torrent.ts'

export * from './bencode/decode.ts'
export * from './bencode/encode.ts'
export { BencodeError, type BencodeErrorCode } from './bencode/error.ts'

/** Reads a .torrent file as it is, as `prepareUpload` does before it makes the site's copy. @throws {TorrentError} */
export function parseTorrent(bytes: Uint8Array, limits: TorrentLimits = {}): Torrent {
  return readTorrent(bytes, decodeRoot(bytes, limits), limits)
}
