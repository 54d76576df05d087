import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { Listed, Page } from '../pagination.ts'

/** The longest text of the rules, in characters. The database has the same constraint. */
export const MAX_RULES = 20_000

/** A version of the rules of the site. */
type RulesVersion = {
  /** Counts from 1. */
  readonly version: number
  /** Markdown. */
  readonly text: string
  readonly publishedAt: Date
}

/** The current rules, and when the reader accepted them. */
type RulesForReader = RulesVersion & { readonly acceptedAt: Date | null }

/** A version in the list of all, with the number of members who accepted it. */
type CountedVersion = Omit<RulesVersion, 'text'> & {
  readonly publishedBy: { readonly id: string; readonly username: string }
  readonly acceptances: number
}

/** The store of the rules. Each method is one atomic change. Versions and acceptances are never changed or deleted. */
export type RulesStore = {
  /** Undefined if no rules were published. */
  current(userId: string): Promise<RulesForReader | undefined>
  /** Whether there is a current version that the user has not accepted. */
  isWaiting(userId: string): Promise<boolean>
  /** Adds the version after `version`, accepted by its author, recorded in the admin log; false if another is current. */
  publish(text: string, version: number, by: ActedBy): Promise<boolean>
  /** Records an acceptance once; false if the version is not the current one. */
  accept(userId: string, version: number, at: Date): Promise<boolean>
  versions(page: Page): Promise<Listed<CountedVersion>>
  /** The text of a version. */
  text(version: number): Promise<string | undefined>
}

export type Rules = ReturnType<typeof createRules>

/** The rules of the site: administrators publish versions, and members accept the current one. */
export function createRules({ store, clock }: { store: RulesStore; clock: Clock }) {
  return {
    /** The current rules; undefined if there are none. */
    current: (userId: string) => store.current(userId),

    /** Whether a member has to accept the current version. */
    isWaiting: (userId: string) => store.isWaiting(userId),

    /**
     * Publishes a new version, which all but its author have to accept again.
     *
     * @param replaces the version that the author has read; 0 for the first one
     * @throws ApiError CONFLICT if another version is current
     */
    async publish(text: string, replaces: number, actorId: string): Promise<void> {
      if (!(await store.publish(text, replaces, actedBy(clock, actorId))))
        throw apiError('CONFLICT', 'Another administrator published a version. Read it, then publish yours again.')
    },

    /** Records that a member accepts the current version. @throws ApiError CONFLICT if it is another one */
    async accept(userId: string, version: number): Promise<void> {
      if (!(await store.accept(userId, version, new Date(clock.now()))))
        throw apiError('CONFLICT', 'The rules have changed. Read the current version.')
    },

    versions: (page: Page) => store.versions(page),

    /** @throws ApiError NOT_FOUND */
    async text(version: number): Promise<string> {
      const text = await store.text(version)
      if (text === undefined) throw apiError('NOT_FOUND', 'There is no such version.')
      return text
    },
  }
}
