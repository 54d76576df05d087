import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Account, Accounts } from '../accounts/accounts.ts'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import type { Listed, Page } from '../pagination.ts'
import { type StaffNote, subjectOf } from './reviews.ts'

/** A warning to a member by staff. */
export type Warning = StaffNote

export type WarningStore = {
  /** Stores a warning with its notice to the member and its entry in the admin log. */
  create(warning: { readonly id: string; readonly to: Account; readonly text: string }, by: ActedBy): Promise<void>
  /** Newest first. */
  list(userId: string, page: Page): Promise<Listed<Warning>>
  count(userId: string): Promise<number>
}

export type Warnings = ReturnType<typeof createWarnings>

/** Warnings to members, who receive each as a notice. */
export function createWarnings(deps: { store: WarningStore; accounts: Pick<Accounts, 'byId'>; clock: Clock }) {
  const { store, accounts, clock } = deps
  return {
    /** @throws ApiError as `subjectOf` does */
    async warn(id: string, text: string, author: Account): Promise<Warning> {
      const to = await subjectOf(accounts, id, author)
      const by = actedBy(clock, author.id)
      const warning = { id: newId(), text }
      await store.create({ ...warning, to }, by)
      return { ...warning, created: by.at, author: { id: author.id, username: author.username } }
    },

    /** @throws ApiError as `subjectOf` does */
    async list(id: string, page: Page, by: Account): Promise<Listed<Warning>> {
      return store.list((await subjectOf(accounts, id, by)).id, page)
    },

    count: (userId: string): Promise<number> => store.count(userId),
  }
}
