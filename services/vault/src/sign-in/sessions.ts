import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import type { ActiveSession, Administrator, Grant, ProjectRef, TokenOfAdministrator } from '../access/administrator.ts'
import { type By, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, noSuch } from '../errors.ts'
import type { AuthenticRows, Sealed, SessionRow } from '../integrity/rows.ts'
import type { CookieSeals } from './cookie-seals.ts'
import { readRole } from './role-mapping.ts'

/** A session in a listing. */
export type ListedSession = SessionRow & { readonly actor: string }

type EndedSession = Pick<SessionRow, 'id' | 'subject' | 'name'>

/** Sessions. Every writing method is one transaction, together with its audit entries. */
export type SessionStore = {
  /**
   * Adds a session. If the person has too many, their oldest ones end.
   *
   * @returns false if the vault has the maximum number of sessions
   */
  create(session: Sealed<SessionRow>, max: { perPerson: number; total: number }, entry: NewEntry): Promise<boolean>
  find(tokenHash: Buffer): Promise<Sealed<SessionRow> | undefined>
  /** Sessions that expire after a time, in the order in which they began. */
  list(after: Date): Promise<readonly Sealed<SessionRow>[]>
  projectsNamed(names: readonly string[]): Promise<readonly ProjectRef[]>
  /** Ends one session, or all. Returns false if there is none. */
  end(id: string | undefined, entryFor: (ended: readonly EndedSession[]) => NewEntry): Promise<boolean>
  /** Deletes sessions that expired this long ago according to the clock of the database. */
  removeExpired(keptMs: number): Promise<void>
}

/** How long a session lasts, however much it is used. */
export const SESSION_MS = 8 * 3_600_000

const LIMITS = { perPerson: 10, total: 10_000 }

/** 256 bits, so a plain hash is sufficient. */
const TOKEN_BYTES = 32

/** Expired sessions are kept for this long: one that is deleted before is marked as ended. */
const KEPT_MS = 600_000

/** Begins the subject of a session that began with a token. The space keeps it apart from those of providers. */
const TOKEN = 'token '

/** The sessions of administrators who signed in. */
export type Sessions = ReturnType<typeof createSessions>

/** The actor of a session. The subject of a provider never changes, unlike a name or an email address. */
export function actorOf(subject: string): string {
  return subject.startsWith(TOKEN) ? subject.slice(TOKEN.length) : `oidc:${subject}`
}

/**
 * Creates the use cases of sessions.
 *
 * @param deps `settings` identifies the provider and the roles of groups: sessions of other settings are not valid;
 *   `findByCredential` finds the administrator whose token began a session, if it is still valid
 */
export function createSessions(deps: {
  store: SessionStore
  rows: AuthenticRows['sessions']
  seals: CookieSeals
  settings: string
  findByCredential: (credential: string) => Promise<TokenOfAdministrator | undefined>
  clock: Clock
}) {
  const { store, rows, seals, settings, findByCredential, clock } = deps

  async function beginSession(
    session: Pick<SessionRow, 'subject' | 'name' | 'roles' | 'settings'>,
    { address, issuer }: { address: string; issuer: string | null },
  ): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const createdAt = new Date(clock.now())
    const expiresAt = new Date(createdAt.getTime() + SESSION_MS)
    const row = rows.seal({ ...session, id: newId(), tokenHash: hashOf(token), createdAt, expiresAt })
    const entry = newEntry(clock, {
      action: 'session.create',
      by: { actor: actorOf(session.subject), address },
      detail: { session: row.id, issuer, name: session.name, roles: session.roles.join('; ') },
    })
    if (!(await store.create(row, LIMITS, entry)))
      throw apiError(
        'unavailable',
        `There are already ${String(LIMITS.total)} sessions. Try again later, or have some revoked.`,
      )
    return seals.seal('session', token)
  }

  /** The grants of a session now; undefined if what it began with is no longer valid. */
  async function currentGrants(row: SessionRow): Promise<readonly Grant[] | undefined> {
    if (!row.subject.startsWith(TOKEN)) return row.settings === settings ? grantsOf(row.roles) : undefined
    const found = await findByCredential(row.settings)
    return found?.actor === actorOf(row.subject) ? found.grants : undefined
  }

  async function grantsOf(roles: readonly string[]): Promise<readonly Grant[]> {
    const mapped = roles.flatMap((role) => readRole(role) ?? [])
    const names = [...new Set(mapped.flatMap(({ projects }) => projects ?? []))]
    const existing = names.length === 0 ? [] : await store.projectsNamed(names)
    return mapped.map(({ role, projects }) => ({
      role,
      projects: projects && existing.filter(({ name }) => projects.includes(name)),
      unbound: projects?.filter((project) => !existing.some(({ name }) => name === project)) ?? [],
    }))
  }

  return {
    /**
     * Begins a session of someone who signed in with the provider.
     *
     * @param roles as the settings write them
     * @returns the value of its cookie, which is not stored
     * @throws ApiError unavailable if there are too many sessions
     */
    begin: (input: {
      subject: string
      name: string
      roles: readonly string[]
      issuer: string
      address: string
    }): Promise<string> => {
      const { subject, name, roles, issuer, address } = input
      return beginSession({ subject, name, roles, settings }, { issuer, address })
    },

    /**
     * Begins a session with a token, so that a browser need not keep it. The session ends with the token.
     *
     * @returns the value of its cookie, which is not stored
     * @throws ApiError unavailable if there are too many sessions
     */
    beginWithToken: (
      { actor, address, grants }: Pick<Administrator, 'actor' | 'address' | 'grants'>,
      { name, credential }: Pick<TokenOfAdministrator, 'name' | 'credential'>,
    ): Promise<string> =>
      beginSession(
        { subject: `${TOKEN}${actor}`, name, roles: grants.map(writeRole), settings: credential },
        { issuer: null, address },
      ),

    /** Returns the session of a cookie, undefined if it is unknown or has ended. */
    find: async (cookie: string): Promise<ActiveSession | undefined> => {
      const token = seals.open('session', cookie)
      const row = token === undefined ? undefined : await store.find(hashOf(token))
      if (row === undefined || !rows.accept(row) || row.expiresAt.getTime() <= clock.now()) return undefined
      const { id, subject, name, expiresAt } = row
      const grants = await currentGrants(row)
      return grants && { id, actor: actorOf(subject), name, expiresAt, grants }
    },

    /** Returns the sessions that have not ended, including those of earlier settings. */
    list: async (): Promise<readonly ListedSession[]> =>
      (await store.list(new Date(clock.now())))
        .filter(rows.accept)
        .map((row) => ({ ...row, actor: actorOf(row.subject) })),

    /** Ends a session at all replicas. @throws ApiError not_found */
    end: async (id: string, by: By): Promise<void> => {
      const entryFor = ([ended]: readonly EndedSession[]) => {
        const { subject = null, name = null } = ended ?? {}
        return newEntry(clock, { action: 'session.delete', by, detail: { session: id, subject, name } })
      }
      if (!isId(id) || !(await store.end(id, entryFor))) throw noSuch('session')
    },

    /** Ends all sessions at all replicas. */
    endAll: async (by: By): Promise<void> => {
      await store.end(undefined, ({ length: sessions }) =>
        newEntry(clock, { action: 'session.delete', by, detail: { sessions } }),
      )
    },

    /** Deletes sessions that expired a while ago. */
    removeExpired: (): Promise<void> => store.removeExpired(KEPT_MS),
  }
}

/** A grant as the settings write roles, with the projects that exist. */
function writeRole({ role, projects, unbound }: Grant): string {
  return projects === null ? role : `${role}:${[...projects.map(({ name }) => name), ...unbound].join(',')}`
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
