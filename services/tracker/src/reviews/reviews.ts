import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Account } from '../accounts/accounts.ts'
import { apiError, type ErrorCode, isApiError } from '../errors.ts'
import type { Torrents } from '../torrents/torrents.ts'

/** Notes per torrent. */
export const MAX_NOTES = 50
/** Torrents that one request decides: a page of the queue. */
export const MAX_DECISIONS = 25

/** A note on a torrent by staff and for staff. */
export type TorrentNote = {
  readonly id: string
  readonly text: string
  readonly created: Date
  readonly author: { readonly id: string; readonly username: string }
}

/** What staff should know about an uploader. */
export type UploaderRecord = {
  readonly id: string
  readonly username: string
  readonly created: Date
  readonly approved: number
  readonly pending: number
  readonly rejected: number
  /** In the last 30 days. */
  readonly deleted: number
  readonly warnings: number
}

export type ReviewStore = {
  /** Newest first. */
  notes(torrentId: string): Promise<readonly TorrentNote[]>
  /** @returns false if the torrent has `maxNotes` */
  addNote(note: {
    readonly id: string
    readonly torrentId: string
    readonly authorId: string
    readonly text: string
    readonly at: Date
    readonly maxNotes: number
  }): Promise<boolean>
  recordOf(userId: string): Promise<UploaderRecord | undefined>
}

/** The outcome for one torrent; an error leaves the others as they are. */
export type Decided = { readonly id: string; readonly error: ErrorCode | null }

export type Reviews = ReturnType<typeof createReviews>

/** What moderators need to decide about torrents. */
export function createReviews(deps: {
  store: ReviewStore
  torrents: Pick<Torrents, 'findVisible' | 'moderate'>
  clock: Clock
}) {
  const { store, torrents, clock } = deps

  async function decide(id: string, reason: string | null, by: Account): Promise<Decided> {
    try {
      await torrents.moderate(id, reason === null ? 'approved' : 'rejected', reason, by)
      return { id, error: null }
    } catch (error) {
      if (isApiError(error)) return { id, error: error.code }
      throw error
    }
  }

  return {
    /** @throws ApiError NOT_FOUND */
    async notes(id: string, by: Account): Promise<readonly TorrentNote[]> {
      return store.notes((await torrents.findVisible(id, by)).id)
    },

    /** @throws ApiError NOT_FOUND, or CONFLICT if the torrent has too many notes */
    async addNote(id: string, text: string, by: Account): Promise<TorrentNote> {
      const torrent = await torrents.findVisible(id, by)
      const note = { id: newId(), text, at: new Date(clock.now()) }
      const added = await store.addNote({ ...note, torrentId: torrent.id, authorId: by.id, maxNotes: MAX_NOTES })
      if (!added) throw apiError('CONFLICT', `A torrent has at most ${MAX_NOTES} notes.`)
      return { id: note.id, text, created: note.at, author: { id: by.id, username: by.username } }
    },

    /** The record of the uploader, even if they hide their name. @throws ApiError NOT_FOUND if there is none */
    async uploaderOf(id: string, by: Account): Promise<UploaderRecord> {
      const { uploader } = await torrents.findVisible(id, by)
      const record = uploader && (await store.recordOf(uploader.id))
      if (!record) throw apiError('NOT_FOUND', 'This torrent has no uploader.')
      return record
    },

    /** Approves several torrents, or rejects them for one reason, one after the other. */
    async decideAll(ids: readonly string[], reason: string | null, by: Account): Promise<readonly Decided[]> {
      const decided: Decided[] = []
      for (const id of new Set(ids)) decided.push(await decide(id, reason, by))
      return decided
    },
  }
}
