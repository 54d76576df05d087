/** Why a message was not passed on. */
export type DropReason =
  /** The offer was not sent to this peer, or more than two minutes ago, or is answered already. */
  | 'no_offer'
  /** The peer that made the offer is gone. */
  | 'peer_gone'
  /** The receiver reads too slowly. */
  | 'slow_reader'
  /** Another process could not be reached. */
  | 'unreachable'

/** What is counted of sockets. */
export type SocketCounters = {
  countOpened(): void
  countClosed(): void
  countMessage(kind: 'announce' | 'answer' | 'scrape' | 'malformed'): void
  countRelayed(kind: 'offer' | 'answer', to: 'socket' | 'process', count?: number): void
  countDropped(reason: DropReason, count?: number): void
  /** An upgrade that was refused. */
  countRefused(reason: 'origin' | 'path' | 'header_fields' | 'address_limit' | 'stopping'): void
}
