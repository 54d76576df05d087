import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { BY_COMMAND, type NewEntry, newEntry } from '../audit/audit.ts'
import type { DataKeys } from '../keyring/data-keys.ts'
import { DecryptionError, dataKeyVersionOf, decryptValue, type ValuePlace } from '../keyring/envelope.ts'
import {
  type AdministratorRow,
  type AuthenticRows,
  type EnvironmentSeal,
  type ExchangedKeyRow,
  fingerprintOf,
  type ReferenceRuleRow,
  type Sealed,
  type SealedProject,
  type SessionRow,
  type StoredEnvironment,
  type TrustRuleRow,
  type WebhookRow,
} from './rows.ts'

/**
 * The newest generation of a project, or revision of one of its environments (`env`), in the audit log. Anyone who can
 * insert entries can forge one, but none can be removed unnoticed.
 */
export type Claim = {
  readonly projectUid: string
  readonly project: string
  readonly env: string | null
  readonly number: number
  /** The id of the entry with this number, and that of the entry of the project's deletion. */
  readonly entry: string
  readonly deletion: string | null
}

/** More changes than any project has: an entry with a higher number is forged. */
export const MAX_CLAIM = 1_000_000_000

/** A project with its environments, and the highest numbers they have had, by subject. */
export type ProjectRows = {
  readonly project: SealedProject
  readonly environments: readonly StoredEnvironment[]
  readonly marks: ReadonlyMap<string, number>
}

/** A project and its environments with new codes. */
export type Resealed = {
  readonly project: SealedProject
  readonly environments: readonly (EnvironmentSeal & { readonly before: StoredEnvironment })[]
  readonly entries: readonly NewEntry[]
}

/** The stored rows that decide access. */
export type RowStore = {
  /** The names of all projects. */
  names(): Promise<readonly string[]>
  /** A project with its environments, in one snapshot. */
  read(name: string): Promise<ProjectRows | undefined>
  /** The current values of an environment; an empty value if the row of a version is missing. */
  values(projectUid: string, env: string): Promise<readonly { key: string; version: number; blob: Buffer }[]>
  claims(): Promise<readonly Claim[]>
  /** The ids of entries with a number that the vault does not write, the oldest first. */
  forgedClaims(limit: number): Promise<readonly string[]>
  /** All named administrators; `deleted` if the audit log has their deletion. */
  administrators(): Promise<readonly (Sealed<AdministratorRow> & { readonly deleted: boolean })[]>
  /** All trust rules; `deleted` if the audit log has their removal. */
  trustRules(): Promise<readonly (Sealed<TrustRuleRow> & { readonly deleted: boolean })[]>
  /** All keys that were admitted for ID tokens. */
  exchangedKeys(): Promise<readonly Sealed<ExchangedKeyRow>[]>
  /** All sessions of administrators. */
  sessions(): Promise<readonly Sealed<SessionRow>[]>
  /** All reference rules; `deleted` if the audit log has their removal. */
  referenceRules(): Promise<readonly (Sealed<ReferenceRuleRow> & { readonly deleted: boolean })[]>
  /** All webhooks; `deleted` if the audit log has their removal. */
  webhooks(): Promise<readonly (Sealed<WebhookRow> & { readonly deleted: boolean })[]>
  /** Locks a project and its environments, calls `decide` and writes the result with its audit entries. */
  rewrite(name: string, decide: (rows: ProjectRows) => Resealed | undefined): Promise<void>
}

/** A summary of a project that was authenticated. */
type AuthenticatedProject = {
  readonly project: string
  readonly requireContentDigest: boolean
  readonly keys: readonly { name: string; fingerprint: string; until: Date | null }[]
  readonly secrets: number
}

/** How many forged entries are listed at most. */
const MAX_FORGED = 100

/** Verifies the rows that decide access, and authenticates those of an earlier release. */
export type RowVerification = ReturnType<typeof createRowVerification>

/** @param deps `rows` does not need to report refused rows */
export function createRowVerification(deps: {
  store: RowStore
  rows: AuthenticRows
  dataKeys: Pick<DataKeys, 'find'>
  clock: Clock
}) {
  const { store, rows, dataKeys, clock } = deps

  function problemsOf(stored: ProjectRows): string[] {
    const { project, environments } = stored
    const place = `project ${project.name}`
    if (!rows.isProject(project))
      return [
        isOlder(stored, null) ? rolledBack(place, null) : `${place}: its row is not authentic`,
        ...environments.flatMap((environment) => problemsOfEnvironment(stored, environment)),
      ]
    const authentic = new Set(rows.openProject(project).keys.map(({ id }) => id))
    return [
      ...project.keys
        .filter(({ id }) => !authentic.has(id))
        .map((key) => `${place}: the key ${fingerprintOf(key.publicKey)} is not authentic`),
      ...environments.flatMap((environment) => problemsOfEnvironment(stored, environment)),
    ]
  }

  function problemsOfEnvironment(stored: ProjectRows, environment: StoredEnvironment): string[] {
    if (rows.isEnvironment(environment)) return []
    const place = `project ${stored.project.name}`
    const { env } = environment
    return [
      isOlder(stored, env) ? rolledBack(place, env) : `${place}: the secrets of ${env} are not those the vault stored`,
    ]
  }

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

  /** An old ciphertext in place of a new one does not decrypt. */
  async function problemsOfValues({ project, environments }: ProjectRows): Promise<string[]> {
    const problems: string[] = []
    for (const { projectUid, env } of environments)
      for (const { key, version, blob } of await store.values(projectUid, env))
        if (!(await decrypts({ projectUid, env, key, version }, blob)))
          problems.push(`project ${project.name}: version ${String(version)} of ${key} in ${env} does not decrypt`)
    return problems
  }

  /** Reports claims above both the row and its mark: the owner of the tables can lower both. */
  function contradictionsOf(claim: Claim, found: ProjectRows | undefined): string[] {
    const { env, number, entry, deletion } = claim
    const place = `project ${claim.project}`
    if (found === undefined)
      return deletion === null ? [`${place}: it was removed without an entry in the audit log`] : []
    if (deletion !== null) return [`${place}: it was deleted but is stored, or the audit entry ${deletion} is forged`]
    if (numberOf(found, env) >= number || isOlder(found, env)) return []
    return [`${rolledBack(place, env)}, or the audit entry ${entry} is forged`]
  }

  /** Uses numbers above all known ones, so that no older state is accepted later. */
  function reseal(stored: ProjectRows, claims: readonly Claim[]): Resealed {
    const { project } = stored
    const nextNumber = (env: string | null) =>
      Math.max(
        numberOf(stored, env),
        stored.marks.get(subjectOf(env)) ?? 0,
        ...claims.filter((each) => each.projectUid === project.uid && each.env === env).map((each) => each.number),
      ) + 1
    const generation = nextNumber(null)
    const environments = stored.environments.map((before) => ({
      before,
      ...rows.sealEnvironment(before, nextNumber(before.env)),
    }))
    const entry = (env: string | null, detail: Record<string, number>) =>
      newEntry(clock, { action: 'project.authenticate', by: BY_COMMAND, env, detail })
    return {
      project: rows.sealProject({ ...project, generation }),
      environments,
      entries: [
        entry(null, { generation, keys: project.keys.length }),
        ...environments.map(({ before, revision }) => entry(before.env, { revision, secrets: before.current.length })),
      ],
    }
  }

  return {
    /** Returns every row that is not authentic or not the newest, and every value that does not decrypt. */
    verify: async (): Promise<readonly string[]> => {
      const claims = await store.claims()
      const forged = await store.forgedClaims(MAX_FORGED)
      const projects = new Map<string, ProjectRows>()
      const problems: string[] = []
      for (const name of await store.names()) {
        const found = await store.read(name)
        if (found === undefined) continue
        projects.set(found.project.uid, found)
        problems.push(...problemsOf(found), ...(await problemsOfValues(found)))
      }
      problems.push(
        ...claims.flatMap((claim) => contradictionsOf(claim, projects.get(claim.projectUid))),
        ...forged.map((id) => `the audit entry ${id} is forged: the vault does not write such numbers`),
      )
      problems.push(
        ...problemsOfRows('administrator', rows.administrators, await store.administrators()),
        ...problemsOfRows('trust rule', rows.trustRules, await store.trustRules()),
        ...problemsOfRows('reference rule', rows.referenceRules, await store.referenceRules()),
        ...problemsOfRows('webhook', rows.webhooks, await store.webhooks()),
        ...problemsOfRows('session', rows.sessions, await store.sessions()),
        ...problemsOfRows('exchanged key', rows.exchangedKeys, await store.exchangedKeys()),
      )
      return problems
    },

    /**
     * Authenticates the rows of one project, or of all projects that an earlier release wrote, as they are stored.
     *
     * @returns the authenticated projects, for the operator to check
     */
    authenticate: async (name: string | undefined): Promise<readonly AuthenticatedProject[]> => {
      const done: AuthenticatedProject[] = []
      const claims = await store.claims()
      for (const each of name === undefined ? await store.names() : [name]) {
        await store.rewrite(each, (stored) => {
          const { project, environments } = stored
          // No release with codes has changed a project of generation 0.
          if (name === undefined && project.generation > 0) return undefined
          done.push({
            project: project.name,
            requireContentDigest: project.requireContentDigest,
            keys: project.keys.map(({ name, publicKey, notAfter }) => ({
              ...{ name, fingerprint: fingerprintOf(publicKey), until: notAfter },
            })),
            secrets: environments.reduce((sum, { current }) => sum + current.length, 0),
          })
          return reseal(stored, claims)
        })
      }
      return done
    },
  }
}

/** Reports rows that are not authentic, and those whose removal is in the audit log. */
function problemsOfRows<Row extends { readonly id: string; readonly deleted?: boolean }>(
  what: string,
  { isAuthentic }: { isAuthentic: (row: Row) => boolean },
  stored: readonly Row[],
): string[] {
  return stored.flatMap((row) => [
    ...(isAuthentic(row) ? [] : [`${what} ${row.id}: its row is not authentic`]),
    ...(row.deleted === true ? [`${what} ${row.id}: it was removed but is stored`] : []),
  ])
}

function subjectOf(env: string | null): string {
  return env === null ? 'project' : `env:${env}`
}

/** The generation of the project, or the revision of an environment; 0 without a row. */
function numberOf({ project, environments }: ProjectRows, env: string | null): number {
  if (env === null) return project.generation
  return environments.find((each) => each.env === env)?.stored?.revision ?? 0
}

/** Whether a row is below the highest number it has had. */
function isOlder(rows: ProjectRows, env: string | null): boolean {
  return numberOf(rows, env) < (rows.marks.get(subjectOf(env)) ?? 0)
}

function rolledBack(place: string, env: string | null): string {
  return `${place}: ${env === null ? 'it was' : `the secrets of ${env} were`} rolled back to an older state`
}
