// Helpers of tests and benches for .torrent files and replies. Services import the package itself.
import { decodeRoot, readTorrent } from './torrent/parse.ts'
import type { Torrent, TorrentLimits } from './torrent/torrent.ts'

export * from './bencode/decode.ts'
export * from './bencode/encode.ts'
export { BencodeError, type BencodeErrorCode } from './bencode/error.ts'

/** Parses a .torrent file, as `prepareUpload` does before it creates the site's copy. @throws {TorrentError} */
export function parseTorrent(bytes: Uint8Array, limits: TorrentLimits = {}): Torrent {
  return readTorrent(bytes, decodeRoot(bytes, limits), limits)
}
