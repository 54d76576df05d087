import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { apiError } from '../errors.ts'
import type { Listed, Page, Total } from '../pagination.ts'

/** The kinds of notices. Members choose which of them they receive, except those that concern their account. */
export const NOTICE_KINDS = [
  'approval',
  'rejection',
  'edit',
  'deletion',
  'rates',
  'reseed',
  'report',
  'search',
  'invite',
  'second-factor',
  'token',
  'warning',
  'webhook',
] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

const ALWAYS_SENT: ReadonlySet<NoticeKind> = new Set<NoticeKind>(['second-factor', 'token', 'warning'])

/** What a notice says in addition to its torrent; each kind has its own fields. */
export type NoticeDetails = {
  /** Why staff rejected or deleted the torrent, or warned the member. */
  readonly reason?: string
  /** The name of a deleted torrent, of an API token that staff revoked, or of a webhook. */
  readonly name?: string
  /** The fields that staff edited. */
  readonly fields?: readonly string[]
  /** The new rates of the torrent, or of the scope if there is no torrent. */
  readonly downloadPercent?: number
  readonly uploadPercent?: number
  readonly scope?: 'site' | 'account'
  /** Who registered with the invite. */
  readonly username?: string
  /** The saved search that matches. */
  readonly search?: { readonly id: string; readonly name: string }
}

export type NewNotice = {
  /** The id of the recipient. */
  readonly to: string
  readonly kind: NoticeKind
  /** An unread notice of the same recipient, kind and topic is replaced, and counts how often it happened. */
  readonly topic?: string
  readonly torrentId?: string
  readonly details?: NoticeDetails
  /** How often it happened; once by default. */
  readonly times?: number
}

export type Notice = {
  readonly id: string
  readonly kind: NoticeKind
  readonly created: Date
  readonly isRead: boolean
  /** Null if the notice is about no torrent or the torrent was deleted. */
  readonly torrent: { readonly id: string; readonly name: string } | null
  /** How often it happened since the last notice that was read. */
  readonly times: number
  readonly details: NoticeDetails
}

/** The kinds that a member does not receive, and those that they receive by email too. */
export type NoticeSettings = { readonly muted: readonly NoticeKind[]; readonly mailed: readonly NoticeKind[] }

/** Unread notices are counted up to this number. */
export const MAX_UNREAD = 99

/** The oldest notices of a member beyond this number are deleted. */
export const MAX_NOTICES = 200

/** Notices of members. Causes create them in their own transaction; see `notify`. */
export type NoticeStore = {
  /** Newest first. */
  list(userId: string, page: Page, unreadOnly: boolean): Promise<Listed<Notice>>
  countUnread(userId: string): Promise<Total>
  /** @returns false if the user has no such notice */
  markRead(userId: string, id: string, at: Date): Promise<boolean>
  /** Marks all notices as read that are not newer than `until`. */
  markAllRead(userId: string, until: Date, at: Date): Promise<void>
  settings(userId: string): Promise<NoticeSettings>
  mute(userId: string, kinds: readonly NoticeKind[]): Promise<void>
  /** Sends new notices of these kinds by email too. @param at the start, unless the user receives some already */
  mail(userId: string, kinds: readonly NoticeKind[], at: Date): Promise<void>
}

export type Notices = ReturnType<typeof createNotices>

/** The notices of a member. */
export function createNotices({ store, clock }: { store: NoticeStore; clock: Clock }) {
  const now = (): Date => new Date(clock.now())
  return {
    list: (userId: string, page: Page, unreadOnly: boolean) => store.list(userId, page, unreadOnly),
    countUnread: (userId: string) => store.countUnread(userId),

    /** @throws ApiError NOT_FOUND */
    async markRead(userId: string, id: string): Promise<void> {
      if (!isId(id) || !(await store.markRead(userId, id, now())))
        throw apiError('NOT_FOUND', 'There is no such notice.')
    },

    /** @param until the time of the newest notice that the member has seen; all by default */
    markAllRead: (userId: string, until: Date = now()) => store.markAllRead(userId, until, now()),

    settings: (userId: string) => store.settings(userId),

    /** Changes which kinds the member does not receive, and which they receive by email too, from now on. */
    async change(
      userId: string,
      { muted, mailed }: { [Name in keyof NoticeSettings]?: NoticeSettings[Name] | undefined },
    ) {
      const known = (kinds: readonly NoticeKind[]) => NOTICE_KINDS.filter((kind) => kinds.includes(kind))
      if (muted !== undefined)
        await store.mute(
          userId,
          known(muted).filter((kind) => !ALWAYS_SENT.has(kind)),
        )
      if (mailed !== undefined) await store.mail(userId, known(mailed), now())
      return store.settings(userId)
    },
  }
}
