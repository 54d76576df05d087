import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { SealedAdministrator } from '../admin/administrators.ts'
import { BY_COMMAND, type NewEntry, newEntry } from '../audit/audit.ts'
import { isCode, type RowCodes } from '../keyring/row-codes.ts'
import type { AuthenticProjects, SealedProject } from '../projects/authentic-projects.ts'
import { fingerprintOf } from '../projects/project-keys.ts'
import { isAuthenticEnvironment, type NextEnvironment, type StoredEnvironment } from '../secrets/environments.ts'

/** The newest generation of a project and revision of an environment (`env`) that the audit log has. */
export type Recorded = {
  readonly projectUid: string
  readonly project: string
  readonly env: string | null
  readonly number: number
  /** Whether the log has a later deletion of the project. */
  readonly deleted: boolean
}

/** A project with all its environments. */
export type ProjectRows = { readonly project: SealedProject; readonly environments: readonly StoredEnvironment[] }

/** The rows that decide access. */
export type RowStore = {
  /** The names of all projects. */
  names(): Promise<readonly string[]>
  /** A project with its environments, in one snapshot. */
  read(name: string): Promise<ProjectRows | undefined>
  /** What the audit log has recorded. */
  recorded(): Promise<readonly Recorded[]>
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

/** Verifies rows that decide access, and authenticates those of an earlier release. */
export function createRowAuthentication(deps: {
  store: RowStore
  authentic: AuthenticProjects
  codes: RowCodes
  clock: Clock
}) {
  const { store, authentic, codes, clock } = deps

  function problemsOf({ project, environments }: ProjectRows): string[] {
    const place = `project ${project.name}`
    const opened = authentic.open(project)
    const own = isCode(codes.project(project), project.code) ? [] : [`${place}: its row is not authentic`]
    const keys = project.keys.filter(({ id }) => own.length === 0 && opened.keys.every((key) => key.id !== id))
    return [
      ...own,
      ...keys.map((key) => `${place}: the key ${fingerprintOf(key.publicKey)} is not authentic`),
      ...environments
        .filter((environment) => !isAuthenticEnvironment(codes, environment))
        .map(({ env }) => `${place}: the secrets of ${env} are not those that the vault stored`),
    ]
  }

  function problemsOfAdministrator(row: SealedAdministrator & { readonly deleted: boolean }): string[] {
    const place = `administrator ${row.id}`
    return [
      ...(isCode(codes.administrator(row), row.code) ? [] : [`${place}: its row is not authentic`]),
      ...(row.deleted ? [`${place}: it was removed, and is stored`] : []),
    ]
  }

  /** An old row with its old code is authentic; the audit log tells that it is old. */
  function outdated(recorded: Recorded, rows: ReadonlyMap<string, ProjectRows>): string[] {
    const { project, projectUid, env, number, deleted } = recorded
    const found = rows.get(projectUid)
    if (deleted) return found === undefined ? [] : [`project ${project}: it was deleted, and is stored`]
    if (found === undefined) return [`project ${project}: it was removed without an entry in the audit log`]
    if (env === null)
      return found.project.generation >= number ? [] : [`project ${project}: an older state of it was put back`]
    const stored = found.environments.find((each) => each.env === env)?.stored
    return (stored?.revision ?? 0) >= number
      ? []
      : [`project ${project}: an older state of the secrets of ${env} was put back`]
  }

  /** Numbers above every recorded one: what was put back before is accepted now, and nothing older later. */
  function authenticate(rows: ProjectRows, recorded: readonly Recorded[]): Rewritten {
    const { uid } = rows.project
    const above = (known: number, of: string | null) =>
      Math.max(
        known,
        ...recorded.filter((each) => each.projectUid === uid && each.env === of).map((each) => each.number),
      ) + 1
    const generation = above(rows.project.generation, null)
    const environments = rows.environments.map((before) => {
      const revision = above(before.stored?.revision ?? 0, before.env)
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
    /** Every row that is not authentic, and every one that the audit log tells to be an old one. */
    verify: async (): Promise<readonly string[]> => {
      const rows = new Map<string, ProjectRows>()
      const recorded = await store.recorded()
      for (const name of await store.names()) {
        const found = await store.read(name)
        if (found !== undefined) rows.set(found.project.uid, found)
      }
      const administrators = await store.administrators()
      return [
        ...[...rows.values()].flatMap(problemsOf),
        ...recorded.flatMap((each) => outdated(each, rows)),
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
      const recorded = await store.recorded()
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
          return authenticate(rows, recorded)
        })
      }
      return done
    },
  }
}
