import { oneOf, pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'

export const STATES = ['pending', 'approved', 'rejected'] as const
export type State = (typeof STATES)[number]

/** The parameters of the queue's address. Without a state, it shows pending torrents. */
export type QueueSearch = {
  readonly state?: Exclude<State, 'pending'> | undefined
  readonly page?: number | undefined
  /** The id of the selected torrent. */
  readonly torrent?: string | undefined
}

export function readQueueSearch(raw: RawSearch): QueueSearch {
  return {
    state: oneOf(raw, 'state', ['approved', 'rejected'] as const),
    page: pageIn(raw),
    torrent: textIn(raw, 'torrent', 40),
  }
}
