import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { SealedAdministrator } from '../admin/administrators.ts'
import { BY_COMMAND, type NewEntry, newEntry } from '../audit/audit.ts'
import type { DataKeys } from '../keyring/data-keys.ts'
import { DecryptionError, dataKeyVersionOf, decryptValue, type ValuePlace } from '../keyring/envelope.ts'
import { isCode, type RowCodes } from '../keyring/row-codes.ts'
import type { AuthenticProjects, SealedProject } from '../projects/authentic-projects.ts'
import { fingerprintOf } from '../projects/project-keys.ts'
import { isAuthenticEnvironment, type NextEnvironment, type StoredEnvironment } from '../secrets/environments.ts'
import type { StoredValue } from '../secrets/secrets.ts'

/**
 * The newest generation of a project, or revision of an environment (`env`), that the audit log has. Its entries may be
 * forged by somebody who can add to the log, but none can be removed from it.
 */
export type Claim = {
  readonly projectUid: string
  readonly project: string
  readonly env: string | null
  readonly number: number
  /** The id of the entry with this number, and that of an entry about the deletion of the project. */
  readonly entry: string
  readonly deletion: string | null
}

/** More changes than a project ever has: an entry with a higher number is forged. */
export const MAX_CLAIM = 1_000_000_000

/** A project with all its environments, and the highest numbers that these have had, by subject. */
export type ProjectRows = {
  readonly project: SealedProject
  readonly environments: readonly StoredEnvironment[]
  readonly marks: ReadonlyMap<string, number>
}

/** The rows that decide access. */
export type RowStore = {
  /** The names of all projects. */
  names(): Promise<readonly string[]>
  /** A project with its environments, in one snapshot. */
  read(name: string): Promise<ProjectRows | undefined>
  /** The current values of an environment; an empty one where the row of a version is missing. */
  values(projectUid: string, env: string): Promise<readonly StoredValue[]>
  /** What the audit log says of generations and revisions. */
  claims(): Promise<readonly Claim[]>
  /** The ids of entries with a generation or revision that the vault does not write, the oldest first. */
  forgedClaims(limit: number): Promise<readonly string[]>
  /** All named administrators, and whether the audit log says that they were removed. */
  administrators(): Promise<readonly (SealedAdministrator & { readonly deleted: boolean })[]>
  /** Locks a project and its environments, calls `decide` and writes the result with its audit entries. */
  rewrite(name: string, decide: (rows: ProjectRows) => Rewritten | undefined): Promise<void>
}

/** A project and its environments with new codes. */
export type Rewritten = {
  readonly project: SealedProject
  readonly environments: readonly (NextEnvironment & { readonly before: StoredEnvironment })[]
  readonly entries: readonly NewEntry[]
}

/** What was authenticated of a project. */
export type Authenticated = {
  readonly project: string
  readonly requireContentDigest: boolean
  readonly keys: readonly { fingerprint: string; until: Date | null }[]
  readonly secrets: number
}

/** So many forged entries are named. */
const MOST_FORGED = 100

/** Verifies rows that decide access, and authenticates those of an earlier release. */
export function createRowAuthentication(deps: {
  store: RowStore
  authentic: AuthenticProjects
  codes: RowCodes
  dataKeys: Pick<DataKeys, 'find'>
  clock: Clock
}) {
  const { store, authentic, codes, dataKeys, clock } = deps

  function problemsOf(rows: ProjectRows): string[] {
    const { project, environments } = rows
    const place = `project ${project.name}`
    const opened = authentic.open(project)
    const isOwn = isCode(codes.project(project), project.code)
    const own = isOwn ? [] : [isOlder(rows, null) ? putBack(place, null) : `${place}: its row is not authentic`]
    const keys = project.keys.filter(({ id }) => own.length === 0 && opened.keys.every((key) => key.id !== id))
    return [
      ...own,
      ...keys.map((key) => `${place}: the key ${fingerprintOf(key.publicKey)} is not authentic`),
      ...environments
        .filter((environment) => !isAuthenticEnvironment(codes, environment))
        .map(({ env }) =>
          isOlder(rows, env)
            ? putBack(place, env)
            : `${place}: the secrets of ${env} are not those that the vault stored`,
        ),
    ]
  }

  /** An old ciphertext in the place of a new one does not decrypt. */
  async function decrypts(place: ValuePlace, blob: Buffer): Promise<boolean> {
    try {
      const key = await dataKeys.find(place.projectUid, dataKeyVersionOf(blob))
      if (key !== undefined) decryptValue(key, place, blob)
      return key !== undefined
    } catch (error) {
      if (error instanceof DecryptionError) return false
      throw error
    }
  }

  async function problemsOfValues({ project, environments }: ProjectRows): Promise<string[]> {
    const problems: string[] = []
    for (const { projectUid, env } of environments)
      for (const { key, version, blob } of await store.values(projectUid, env))
        if (!(await decrypts({ projectUid, env, key, version }, blob)))
          problems.push(`project ${project.name}: version ${String(version)} of ${key} in ${env} does not decrypt`)
    return problems
  }

  function problemsOfAdministrator(row: SealedAdministrator & { readonly deleted: boolean }): string[] {
    const place = `administrator ${row.id}`
    return [
      ...(isCode(codes.administrator(row), row.code) ? [] : [`${place}: its row is not authentic`]),
      ...(row.deleted ? [`${place}: it was removed, and is stored`] : []),
    ]
  }

  /** What the audit log says and neither a row nor its mark does. The owner of the tables can lower both. */
  function contradicted(claim: Claim, rows: ReadonlyMap<string, ProjectRows>): string[] {
    const { projectUid, env, number, entry, deletion } = claim
    const place = `project ${claim.project}`
    const found = rows.get(projectUid)
    if (found === undefined)
      return deletion === null ? [`${place}: it was removed without an entry in the audit log`] : []
    if (deletion !== null) return [`${place}: it was deleted, and is stored; or the audit entry ${deletion} is forged`]
    if (numberOf(found, env) >= number || isOlder(found, env)) return []
    return [`${putBack(place, env)}, or the audit entry ${entry} is forged`]
  }

  /** Numbers above every known one: what was put back before is accepted now, and nothing older later. */
  function authenticate(rows: ProjectRows, claims: readonly Claim[]): Rewritten {
    const { uid } = rows.project
    const above = (env: string | null) =>
      Math.max(
        numberOf(rows, env),
        rows.marks.get(subjectOf(env)) ?? 0,
        ...claims.filter((each) => each.projectUid === uid && each.env === env).map((each) => each.number),
      ) + 1
    const generation = above(null)
    const environments = rows.environments.map((before) => {
      const revision = above(before.env)
      return { before, revision, code: codes.environment({ ...before, revision }) }
    })
    const entry = (env: string | null, detail: Record<string, number>) =>
      newEntry(clock, { action: 'project.authenticate', by: BY_COMMAND, env, detail })
    return {
      project: authentic.seal({ ...rows.project, generation }),
      environments,
      entries: [
        entry(null, { generation, keys: rows.project.keys.length }),
        ...environments.map(({ before, revision }) => entry(before.env, { revision, secrets: before.current.length })),
      ],
    }
  }

  return {
    /** Every row that is not authentic or not the newest, and every value that does not decrypt. */
    verify: async (): Promise<readonly string[]> => {
      const rows = new Map<string, ProjectRows>()
      const claims = await store.claims()
      const forged = await store.forgedClaims(MOST_FORGED)
      const problems: string[] = []
      for (const name of await store.names()) {
        const found = await store.read(name)
        if (found === undefined) continue
        rows.set(found.project.uid, found)
        problems.push(...problemsOf(found), ...(await problemsOfValues(found)))
      }
      const administrators = await store.administrators()
      return [
        ...problems,
        ...claims.flatMap((each) => contradicted(each, rows)),
        ...forged.map((id) => `the audit entry ${id} is forged: the vault writes no such number`),
        ...administrators.flatMap(problemsOfAdministrator),
      ]
    },

    /**
     * Authenticates projects as they are stored: those that an earlier release wrote, or the one that is named.
     *
     * @returns what was authenticated, to be compared with what should be there
     */
    authenticate: async (name: string | undefined): Promise<readonly Authenticated[]> => {
      const done: Authenticated[] = []
      const claims = await store.claims()
      for (const each of name === undefined ? await store.names() : [name]) {
        await store.rewrite(each, (rows) => {
          // Generation 0 is that of a project which no release with codes has changed.
          if (name === undefined && rows.project.generation > 0) return undefined
          const { project, environments } = rows
          done.push({
            project: project.name,
            requireContentDigest: project.requireContentDigest,
            keys: project.keys.map((key) => ({ fingerprint: fingerprintOf(key.publicKey), until: key.notAfter })),
            secrets: environments.reduce((sum, { current }) => sum + current.length, 0),
          })
          return authenticate(rows, claims)
        })
      }
      return done
    },
  }
}

function subjectOf(env: string | null): string {
  return env === null ? 'project' : `env:${env}`
}

/** The generation of the project, or the revision of an environment; 0 for one without a row. */
function numberOf({ project, environments }: ProjectRows, env: string | null): number {
  if (env === null) return project.generation
  return environments.find((each) => each.env === env)?.stored?.revision ?? 0
}

/** Whether a row is below the highest number that it has had. */
function isOlder(rows: ProjectRows, env: string | null): boolean {
  return numberOf(rows, env) < (rows.marks.get(subjectOf(env)) ?? 0)
}

function putBack(place: string, env: string | null): string {
  return `${place}: an older state of ${env === null ? 'it' : `the secrets of ${env}`} was put back`
}
