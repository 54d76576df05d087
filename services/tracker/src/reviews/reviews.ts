import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Account, Accounts } from '../accounts/accounts.ts'
import { apiError, type ErrorCode, isApiError } from '../errors.ts'
import type { Torrents } from '../torrents/torrents.ts'

/** Notes per torrent or user. */
export const MAX_NOTES = 50
/** Torrents that one request decides: a page of the queue. */
export const MAX_DECISIONS = 25

/** A note on a torrent or a user by staff and for staff. */
export type StaffNote = {
  readonly id: string
  readonly text: string
  readonly created: Date
  readonly author: { readonly id: string; readonly username: string }
}

export type NoteSubject = { readonly type: 'torrent' | 'user'; readonly id: string }

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
  notes(about: NoteSubject): Promise<readonly StaffNote[]>
  /** @returns false if the subject has `maxNotes` */
  addNote(note: {
    readonly id: string
    readonly about: NoteSubject
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

/**
 * The user about whom staff decide: for moderators, only members.
 *
 * @throws ApiError NOT_FOUND, or FORBIDDEN if the user is staff and `by` is no administrator
 */
export async function subjectOf(accounts: Pick<Accounts, 'byId'>, id: string, by: Account): Promise<Account> {
  const subject = await accounts.byId(id)
  if (subject.role !== 'member' && by.role !== 'admin')
    throw apiError('FORBIDDEN', 'Only administrators can review or warn moderators and administrators.')
  return subject
}

/** What moderators need to decide about torrents and members. */
export function createReviews(deps: {
  store: ReviewStore
  torrents: Pick<Torrents, 'findVisible' | 'moderate'>
  accounts: Pick<Accounts, 'byId'>
  clock: Clock
}) {
  const { store, torrents, accounts, clock } = deps

  async function decide(id: string, reason: string | null, by: Account, version?: string): Promise<Decided> {
    try {
      await torrents.moderate(id, { state: reason === null ? 'approved' : 'rejected', reason }, by, version)
      return { id, error: null }
    } catch (error) {
      if (isApiError(error)) return { id, error: error.code }
      throw error
    }
  }

  async function add(about: NoteSubject, text: string, by: Account): Promise<StaffNote> {
    const note = { id: newId(), text, at: new Date(clock.now()) }
    if (!(await store.addNote({ ...note, about, authorId: by.id, maxNotes: MAX_NOTES })))
      throw apiError('CONFLICT', `A ${about.type} has at most ${MAX_NOTES} notes.`)
    return { id: note.id, text, created: note.at, author: { id: by.id, username: by.username } }
  }

  return {
    /** @throws ApiError NOT_FOUND */
    async notes(id: string, by: Account): Promise<readonly StaffNote[]> {
      return store.notes({ type: 'torrent', id: (await torrents.findVisible(id, by)).id })
    },

    /** @throws ApiError NOT_FOUND, or CONFLICT if the torrent has too many notes */
    async addNote(id: string, text: string, by: Account): Promise<StaffNote> {
      return add({ type: 'torrent', id: (await torrents.findVisible(id, by)).id }, text, by)
    },

    /** @throws ApiError as `subjectOf` does */
    async userNotes(id: string, by: Account): Promise<readonly StaffNote[]> {
      return store.notes({ type: 'user', id: (await subjectOf(accounts, id, by)).id })
    },

    /** @throws ApiError as `subjectOf` does, or CONFLICT if the user has too many notes */
    async addUserNote(id: string, text: string, by: Account): Promise<StaffNote> {
      return add({ type: 'user', id: (await subjectOf(accounts, id, by)).id }, text, by)
    },

    /** The account and the uploads of a user. @throws ApiError as `subjectOf` does */
    async userRecord(id: string, by: Account): Promise<{ account: Account; record: UploaderRecord }> {
      const account = await subjectOf(accounts, id, by)
      const record = await store.recordOf(account.id)
      if (!record) throw apiError('NOT_FOUND', 'There is no such user.')
      return { account, record }
    },

    /** The record of the uploader, even if they hide their name. @throws ApiError NOT_FOUND if there is none */
    async uploaderOf(id: string, by: Account): Promise<UploaderRecord> {
      const { uploader } = await torrents.findVisible(id, by)
      const record = uploader && (await store.recordOf(uploader.id))
      if (!record) throw apiError('NOT_FOUND', 'This torrent has no uploader.')
      return record
    },

    /**
     * Approves several torrents, or rejects them for one reason, one after the other.
     *
     * @param versions those that the moderator saw, by id, as far as known
     */
    async decideAll(
      ids: readonly string[],
      reason: string | null,
      by: Account,
      versions: ReadonlyMap<string, string>,
    ): Promise<readonly Decided[]> {
      const decided: Decided[] = []
      for (const id of new Set(ids)) decided.push(await decide(id, reason, by, versions.get(id)))
      return decided
    },
  }
}
