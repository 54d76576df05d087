export { addressFromText, addressToText } from './address/address.ts'
export { isPrivateAddress } from './address/private-address.ts'
export { isRefusedPort } from './address/refused-ports.ts'
export * from './announce/failure-reply.ts'
export * from './announce/failure-table.ts'
export { type AnnounceParse, parseAnnounceQuery } from './announce/query.ts'
export * from './announce/reply.ts'
export type { AnnounceEvent, AnnounceFailure, AnnounceRequest } from './announce/request.ts'
export * from './announce/target.ts'
export * from './announce/warning-table.ts'
export { BencodeWriter } from './bencode/writer.ts'
export {
  type InfoHash,
  infoHashFromBytes,
  type Passkey,
  type PeerId,
  parseInfoHash,
  parsePasskey,
  parsePeerId,
} from './ids.ts'
export {
  MAX_SCRAPE_INFO_HASHES,
  parseScrapeQuery,
  type ScrapeFailure,
  type ScrapeParse,
  type ScrapeRequest,
} from './scrape/query.ts'
export * from './scrape/reply.ts'
export * from './torrent/build.ts'
export { TorrentError, type TorrentErrorCode } from './torrent/error.ts'
export type { Torrent, TorrentFile, TorrentLimits } from './torrent/torrent.ts'
export * from './torrent/upload.ts'
