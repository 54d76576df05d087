import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Outbox } from '../mail/outbox.ts'
import type { NoticeKind } from './notices.ts'

const HOUR_MS = 3_600_000
/** A member receives at most one email in this time. */
const PAUSE_MS = HOUR_MS
const MAX_DIGESTS = 50
/** An email lists this many notices, the newest. */
const MAX_LISTED = 20

/** The unread notices of a member that the last email did not contain. */
export type Digest = {
  readonly username: string
  readonly email: string
  /** Newest first, at most `MAX_LISTED`. */
  readonly notices: readonly { readonly kind: NoticeKind; readonly torrent: string | null }[]
  readonly total: number
}

export type DigestStore = {
  /** Takes digests that are due. Several processes never take the same. @param before the last email of each was earlier */
  take(limits: { now: Date; before: Date; digests: number; listed: number }): Promise<readonly Digest[]>
}

const TEXTS: Readonly<Record<NoticeKind, string>> = {
  approval: 'Your torrent was approved',
  rejection: 'Your torrent was rejected',
  edit: 'Staff edited your torrent',
  deletion: 'Staff deleted your torrent',
  rates: 'Rates have changed',
  reseed: 'A torrent needs seeders',
  report: 'Staff resolved your report',
  search: 'A saved search has new torrents',
  invite: 'Someone registered with your invite',
  'second-factor': 'Your second factor was removed',
  token: 'Staff revoked one of your API tokens',
  warning: 'Staff warned you',
  webhook: 'A webhook was disabled',
}

/** Returns a task that sends due digests by email, to members who chose kinds of notices for that. */
export function createNoticeMails(deps: {
  store: DigestStore
  outbox: Outbox
  publicUrl: string
  siteName: () => Promise<string>
  clock: Clock
}): () => Promise<void> {
  const { store, outbox, publicUrl, clock } = deps
  return async () => {
    const digests = Math.min(MAX_DIGESTS, outbox.room())
    if (digests <= 0) return
    const [now, before] = [new Date(clock.now()), new Date(clock.now() - PAUSE_MS)]
    const site = await deps.siteName()
    for (const { username, email, notices, total } of await store.take({ now, before, digests, listed: MAX_LISTED })) {
      const lines = notices.map(({ kind, torrent }) => `- ${TEXTS[kind]}${torrent === null ? '' : `: ${torrent}`}`)
      const title = total === 1 ? '1 new notice' : `${String(total)} new notices`
      const text = [
        `Hello ${username},`,
        lines.join('\n'),
        `All notices: ${publicUrl}/notices`,
        `You can turn these emails off there, under Settings.`,
        '',
      ].join('\n\n')
      outbox.add(() => Promise.resolve({ to: email, subject: `${title} · ${site}`, text }))
    }
  }
}
