export * from './address.ts'
export * from './announce.ts'
export * from './announce-path.ts'
export * from './announce-reply.ts'
export {
  type AnnounceEvent,
  type AnnounceFailure,
  type AnnounceRequest,
  DEFAULT_NUMWANT,
  MAX_NUMWANT,
} from './announce-request.ts'
export * from './bencode-decode.ts'
export * from './bencode-encode.ts'
export * from './bencode-error.ts'
export * from './compact-peers.ts'
export * from './failure.ts'
export * from './failures.ts'
export * from './info-hash.ts'
export * from './passkey.ts'
export * from './private-address.ts'
export * from './refused-ports.ts'
export * from './scrape.ts'
export * from './scrape-reply.ts'
export type { Torrent, TorrentFile, TorrentLimits } from './torrent.ts'
export * from './torrent-build.ts'
export * from './torrent-error.ts'
export { parseTorrent } from './torrent-file.ts'
export * from './torrent-upload.ts'
export * from './warnings.ts'
