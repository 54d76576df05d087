import { randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { newId } from '@vault-and-tracker/service-kit/ids'
import { apiError } from '../errors.ts'
import type { Total } from '../lists/total.ts'
import type { Account } from './accounts.ts'
import { hashInviteCode } from './invite-code.ts'

const VALID_MS = 7 * 24 * 3_600_000

/** An invite as the user who created it sees it, without the code, which is shown once. */
export type Invite = {
  readonly id: string
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly usedAt: Date | null
  /** Name of the user who registered with it. */
  readonly usedBy: string | null
}

type InvitePage = { readonly page: number; readonly limit: number }

type NamedUser = { readonly id: string; readonly username: string }

export type NewInvite = {
  readonly id: string
  readonly codeHash: Buffer
  readonly createdBy: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** The store of invites. Each method is one atomic change. */
export type InviteStore = {
  /**
   * Creates an invite and subtracts one from the allowance of its creator, unless `unlimited`.
   *
   * @returns false when the allowance is used up
   */
  create(invite: NewInvite, unlimited: boolean): Promise<boolean>
  /** A page of the invites of a user, the newest first, and how many there are. */
  listBy(userId: string, page: InvitePage): Promise<{ items: readonly Invite[] } & Total>
  /** Whose invite a user registered with. */
  inviterOf(userId: string): Promise<NamedUser | undefined>
}

export type Invites = ReturnType<typeof createInvites>

/** Invites: staff create any number of them, members as many as they were given. */
export function createInvites(deps: { store: InviteStore; clock: Clock }) {
  return {
    /** @throws ApiError FORBIDDEN when a member has none left */
    async create(by: Account): Promise<{ invite: Invite; code: string }> {
      const code = randomBytes(20).toString('base64url')
      const createdAt = new Date(deps.clock.now())
      const expiresAt = new Date(deps.clock.now() + VALID_MS)
      const id = newId()
      const created = await deps.store.create(
        { id, codeHash: hashInviteCode(code), createdBy: by.id, createdAt, expiresAt },
        by.role !== 'member',
      )
      if (!created) throw apiError('FORBIDDEN', 'You have no invites left.')
      return { invite: { id, createdAt, expiresAt, usedAt: null, usedBy: null }, code }
    },

    listBy: (userId: string, page: InvitePage) => deps.store.listBy(userId, page),
    inviterOf: (userId: string) => deps.store.inviterOf(userId),
  }
}
