import { oneOf, pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'

export const STATES = ['pending', 'approved', 'rejected'] as const
export type State = (typeof STATES)[number]

/** What the address of the queue says; without a state, torrents that wait. */
export type QueueSearch = {
  readonly state?: Exclude<State, 'pending'> | undefined
  readonly page?: number | undefined
  /** The id of the torrent that is looked at. */
  readonly torrent?: string | undefined
}

/** Reads the address of the queue. */
export function readQueueSearch(raw: RawSearch): QueueSearch {
  return {
    state: oneOf(raw, 'state', ['approved', 'rejected'] as const),
    page: pageIn(raw),
    torrent: textIn(raw, 'torrent', 40),
  }
}
