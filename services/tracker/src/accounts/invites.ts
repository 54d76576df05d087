import { randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { Listed, Page } from '../pagination.ts'
import { type Account, hashInviteCode } from './accounts.ts'

const VALID_MS = 7 * 24 * 3_600_000

/** An invite without its code, which is shown only once. */
export type Invite = {
  readonly id: string
  readonly created: Date
  readonly expires: Date
  readonly used: Date | null
  /** Username of the user who registered with it. */
  readonly usedBy: string | null
}

type NamedUser = { readonly id: string; readonly username: string }

export type NewInvite = {
  readonly id: string
  readonly codeHash: Buffer
  readonly createdBy: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** An invite by id; if `madeBy` is given, only one that this user created. */
type OneInvite = { readonly id: string; readonly madeBy?: string }

/** The store of invites. Each method is one atomic change. */
export type InviteStore = {
  /**
   * Creates an invite and subtracts one from the allowance of its creator, unless `unlimited`.
   *
   * @returns false if the allowance is used up
   */
  create(invite: NewInvite, unlimited: boolean): Promise<boolean>
  /**
   * Deletes an unused invite, expired or not, and restores its creator's allowance. The admin log records it if `by` is
   * given.
   */
  revoke(invite: OneInvite, by: ActedBy | undefined): Promise<'done' | 'used' | 'unknown'>
  /** A page of the invites that a user created, newest first. */
  listBy(userId: string, page: Page): Promise<Listed<Invite>>
  /** The creator of the invite that a user registered with. */
  inviterOf(userId: string): Promise<NamedUser | undefined>
}

export type Invites = ReturnType<typeof createInvites>

/** Invites. Staff can create any number, members as many as their allowance permits. */
export function createInvites(deps: { store: InviteStore; clock: Clock }) {
  async function revoke(invite: OneInvite, by?: ActedBy): Promise<void> {
    const outcome = isId(invite.id) ? await deps.store.revoke(invite, by) : 'unknown'
    if (outcome === 'unknown') throw apiError('NOT_FOUND', 'There is no such invite.')
    if (outcome === 'used') throw apiError('CONFLICT', 'This invite has been used and cannot be revoked.')
  }

  return {
    /** @throws ApiError FORBIDDEN if a member has none left */
    async create(by: Account): Promise<Invite & { readonly code: string }> {
      const code = randomBytes(20).toString('base64url')
      const createdAt = new Date(deps.clock.now())
      const expiresAt = new Date(deps.clock.now() + VALID_MS)
      const id = newId()
      const created = await deps.store.create(
        { id, codeHash: hashInviteCode(code), createdBy: by.id, createdAt, expiresAt },
        by.role !== 'member',
      )
      if (!created) throw apiError('FORBIDDEN', 'You have no invites left.')
      return { id, created: createdAt, expires: expiresAt, used: null, usedBy: null, code }
    },

    /** Revokes an invite of the user. @throws ApiError NOT_FOUND, or CONFLICT if it was used */
    revokeOwn: (id: string, by: Account) => revoke({ id, madeBy: by.id }),

    /** Revokes an invite of any user. @param by the administrator @throws ApiError NOT_FOUND, CONFLICT */
    revokeAny: (id: string, by: Account) => revoke({ id }, actedBy(deps.clock, by.id)),

    listBy: (userId: string, page: Page) => deps.store.listBy(userId, page),
    inviterOf: (userId: string) => deps.store.inviterOf(userId),
  }
}
