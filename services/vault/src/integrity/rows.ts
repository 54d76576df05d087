import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { DEFAULT_KEY } from '../access/names.ts'
import type { Scope } from '../access/project-caller.ts'
import { apiError } from '../errors.ts'
import { encodeColumns } from '../keyring/envelope.ts'

/** A public key of a project. */
export type ProjectKey = {
  readonly id: string
  /** Shared by the keys that replaced each other. */
  readonly name: string
  readonly publicKey: Uint8Array
  readonly createdAt: Date
  /** The time from which the key is invalid, because it expires, was replaced or was revoked; null if it lasts. */
  readonly notAfter: Date | null
  /** The expiry that the key was given, which its replacement inherits. */
  readonly expiresAt: Date | null
  /** When the key was revoked, for people: only `notAfter` decides. */
  readonly revokedAt: Date | null
  readonly scope: Scope
  /** When a signature of the key was last accepted, to the minute. */
  readonly lastUsedAt: Date | null
}

/** A project with its keys. */
export type StoredProject = {
  readonly uid: string
  readonly name: string
  readonly requireContentDigest: boolean
  readonly createdAt: Date
  /** Increases with every change of the project or its keys. */
  readonly generation: number
  readonly keys: readonly ProjectKey[]
}

/** The rows of a project and its keys, with their codes. They may not have been written by the vault. */
export type SealedProject = Omit<StoredProject, 'keys'> & {
  readonly code: Buffer | null
  readonly keys: readonly (ProjectKey & { readonly code: Buffer | null })[]
}

/** The current versions of an environment's secrets. `stored` is undefined if no secret was ever put there. */
export type StoredEnvironment = {
  readonly projectUid: string
  readonly env: string
  readonly current: readonly { readonly key: string; readonly version: number }[]
  readonly stored: EnvironmentSeal | undefined
}

/** How many environments an environment may inherit from, directly and indirectly. */
export const MAX_ANCESTORS = 4

/** The code of an environment. The revision increases with every change; `parent` is the environment it inherits from. */
export type EnvironmentSeal = { readonly revision: number; readonly parent: string | null; readonly code: Buffer }

/** A named administrator. */
export type AdministratorRow = {
  readonly id: string
  readonly name: string
  readonly tokenHash: Uint8Array
  readonly role: string
  readonly projects: readonly string[] | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
}

/** The project to which a name in an administrator's list refers. */
export type AdministratorProjectRow = {
  readonly administratorId: string
  readonly name: string
  readonly projectUid: string
}

/** A session of an administrator in the console. */
export type SessionRow = {
  readonly id: string
  readonly tokenHash: Uint8Array
  /** The person, at the provider of the settings. */
  readonly subject: string
  /** A name for people, which the person may have chosen. */
  readonly name: string
  /** As the settings write them: `editor:shop,blog`. */
  readonly roles: readonly string[]
  /** Identifies the settings with which the session began. */
  readonly settings: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** Whom a project trusts: ID tokens of an issuer with matching claims admit keys. */
export type TrustRuleRow = {
  readonly id: string
  readonly projectUid: string
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly algorithms: readonly string[]
  /** Names of claims and their patterns, alternating. */
  readonly claims: readonly string[]
  readonly scope: Scope
  readonly minutes: number
  readonly createdAt: Date
}

/** A key that was admitted for an ID token. It does not belong to a generation of its project. */
export type ExchangedKeyRow = {
  readonly id: string
  readonly projectUid: string
  readonly ruleId: string
  readonly publicKey: Uint8Array
  /** The subject of the ID token, shortened. */
  readonly subject: string
  readonly scope: Scope
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** Which secrets of a project another one, the reader, may refer to; null for all. */
export type ReferenceRuleRow = {
  readonly id: string
  readonly projectUid: string
  readonly readerUid: string
  readonly readerEnvs: readonly string[] | null
  readonly envs: readonly string[] | null
  readonly keys: readonly string[] | null
  readonly createdAt: Date
}

/** A URL that receives the changes of a project. */
export type WebhookRow = {
  readonly id: string
  readonly projectUid: string
  readonly url: string
  readonly enabled: boolean
  /** Increases with every change. */
  readonly revision: number
  readonly createdAt: Date
}

/** An event for a webhook, which the vault signs when it sends it. */
export type DeliveryRow = {
  readonly id: string
  readonly webhookId: string
  readonly event: string
  readonly payload: string
  readonly createdAt: Date
}

/** A row with its code. It may not have been written by the vault. */
export type Sealed<Row> = Row & { readonly code: Buffer }

/** The tables whose rows can be refused. */
export const REFUSED_TABLES = [
  ...(['projects', 'project_keys', 'environments', 'administrators', 'audit_seals'] as const),
  ...(['trust_rules', 'exchanged_keys', 'reference_rules', 'webhooks', 'webhook_deliveries'] as const),
  'administrator_sessions',
] as const
export type RefusedTable = (typeof REFUSED_TABLES)[number]

/** Called for every row that was refused because its code is missing or wrong. */
export type OnRefused = (table: RefusedTable, place: object) => void

/** Authenticates the rows that decide access. */
export type AuthenticRows = ReturnType<typeof createAuthenticRows>

/**
 * Creates and checks the codes of rows: HMAC-SHA-256 (RFC 2104) with a key that only the keyring unwraps, so access to the
 * database alone is not enough to create one.
 *
 * @param chainKey the key of the audit chain, from which the key of the codes is derived
 */
export function createAuthenticRows(chainKey: KeyObject, onRefused: OnRefused) {
  const rowKey = createSecretKey(createHmac('sha256', chainKey).update('vault/row-codes/1').digest())
  const codeOf = (kind: string, columns: readonly (string | null)[]): Buffer =>
    createHmac('sha256', rowKey)
      .update(`vault/row/${kind}/1;${encodeColumns(columns)}`)
      .digest()

  type Project = Omit<StoredProject, 'keys'>
  const projectCode = ({ uid, name, requireContentDigest, generation }: Project): Buffer =>
    codeOf('project', [uid, name, String(requireContentDigest), String(generation)])

  /** A key is valid for one generation of its project. Later columns are named, and absent if they have their default. */
  const keyCode = ({ uid, generation }: Project, key: ProjectKey): Buffer =>
    codeOf('project-key', [
      ...[uid, String(generation), key.id, hexOf(key.publicKey)],
      ...[timeOf(key.createdAt), timeOf(key.notAfter), key.scope.access, listOf(key.scope.envs)],
      ...(key.name === DEFAULT_KEY ? [] : ['name', key.name]),
      ...(key.expiresAt === null ? [] : ['expires_at', timeOf(key.expiresAt)]),
    ])

  type Seal = Omit<EnvironmentSeal, 'code'>
  function environmentCode({ projectUid, env, current }: StoredEnvironment, { revision, parent }: Seal): Buffer {
    const sorted = current.toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const columns = [String(revision), ...sorted.flatMap(({ key, version }) => [key, String(version)])]
    return parent === null
      ? codeOf('environment', [projectUid, env, ...columns])
      : codeOf('inheriting-environment', [projectUid, env, parent, ...columns])
  }

  /** Creates and checks the codes of one kind of rows. `place` identifies a row that is refused. */
  function rowsOf<Row extends object>(
    table: RefusedTable,
    kind: string,
    columns: (row: Row) => readonly (string | null)[],
    place: (row: Row) => object,
  ) {
    const isAuthentic = (row: Sealed<Row>): boolean => isCode(codeOf(kind, columns(row)), row.code)
    return {
      isAuthentic,
      seal: <Given extends Row>(row: Given): Sealed<Given> => ({ ...row, code: codeOf(kind, columns(row)) }),
      /** Whether the vault wrote a row. A row that it did not write is reported. */
      accept: (row: Sealed<Row>): boolean => {
        const accepted = isAuthentic(row)
        if (!accepted) onRefused(table, place(row))
        return accepted
      },
    }
  }

  const isProject = (project: SealedProject): boolean => isCode(projectCode(project), project.code)

  function isEnvironment(environment: StoredEnvironment): boolean {
    const { stored, current } = environment
    return stored === undefined ? current.length === 0 : isCode(environmentCode(environment, stored), stored.code)
  }

  /** Whether the vault wrote the row of a project. */
  function acceptProject(project: SealedProject): boolean {
    const isAuthentic = isProject(project)
    if (!isAuthentic) onRefused('projects', { project: project.name })
    return isAuthentic
  }

  /** Returns the project with its authentic keys. A project that is not authentic has no keys and the strictest rules. */
  function openProject(sealed: SealedProject): StoredProject {
    const project = { ...withoutCode(sealed), keys: [] }
    if (!acceptProject(sealed)) return { ...project, requireContentDigest: true }
    const authentic = sealed.keys.filter((key) => {
      if (isCode(keyCode(project, key), key.code)) return true
      onRefused('project_keys', { project: project.name, publicKey: hexOf(key.publicKey) })
      return false
    })
    return { ...project, keys: authentic.map(withoutCode) }
  }

  const sealProject = (project: StoredProject): SealedProject => ({
    ...project,
    code: projectCode(project),
    keys: project.keys.map((key) => ({ ...key, code: keyCode(project, key) })),
  })

  /** @throws ApiError decryption_failed if the environment is not as the vault wrote it */
  function assertEnvironment(environment: StoredEnvironment): void {
    if (isEnvironment(environment)) return
    onRefused('environments', { projectUid: environment.projectUid, env: environment.env })
    throw apiError('decryption_failed')
  }

  /** By default, the environment keeps its parent. */
  const sealEnvironment = (
    environment: StoredEnvironment,
    revision: number,
    parent = environment.stored?.parent ?? null,
  ): EnvironmentSeal => ({ revision, parent, code: environmentCode(environment, { revision, parent }) })

  return {
    isProject,
    isEnvironment,
    acceptProject,
    openProject,
    sealProject,
    assertEnvironment,
    sealEnvironment,

    /**
     * Checks an environment and its ancestors, the nearest first.
     *
     * @throws ApiError decryption_failed if one is not as the vault wrote it, or is missing
     */
    assertInheritance: (levels: readonly StoredEnvironment[]): void => {
      for (const [i, level] of levels.entries()) {
        assertEnvironment(level)
        if ((level.stored?.parent ?? null) === (levels[i + 1]?.env ?? null)) continue
        onRefused('environments', { projectUid: level.projectUid, env: level.env })
        throw apiError('decryption_failed')
      }
    },

    /**
     * Returns the project after a change, sealed as its next generation and without keys that are not authentic.
     *
     * @param change returns undefined if there is nothing to change; then the project is returned unchanged
     * @throws ApiError decryption_failed if the project is not authentic, because the change would make it so
     */
    changeProject: (
      sealed: SealedProject,
      change: (project: StoredProject) => Partial<StoredProject> | undefined,
    ): SealedProject => {
      if (!acceptProject(sealed))
        throw apiError('decryption_failed', 'The stored project was not written by the vault.')
      const project = openProject(sealed)
      const changed = change(project)
      return changed === undefined
        ? sealed
        : sealProject({ ...project, ...changed, generation: project.generation + 1 })
    },

    /**
     * Returns the seal of an environment after changes of its secrets.
     *
     * @param before the stored environment, locked
     * @param changes the new version of each secret; undefined if the secret was deleted
     * @param parent the new parent; by default, the environment keeps its own
     * @throws ApiError decryption_failed if the environment is not as the vault wrote it
     */
    nextEnvironment: (
      before: StoredEnvironment,
      changes: readonly { key: string; version: number | undefined }[],
      parent?: string | null,
    ): EnvironmentSeal => {
      assertEnvironment(before)
      const versions = new Map([...before.current, ...changes].map(({ key, version }) => [key, version]))
      const current = [...versions].flatMap(([key, version]) => (version === undefined ? [] : [{ key, version }]))
      return sealEnvironment({ ...before, current }, (before.stored?.revision ?? 0) + 1, parent)
    },

    administrators: rowsOf<AdministratorRow>(
      'administrators',
      'administrator',
      (row) => [
        ...[row.id, row.name, hexOf(row.tokenHash), row.role],
        ...[listOf(row.projects), timeOf(row.createdAt), timeOf(row.expiresAt)],
      ],
      ({ id }) => ({ administrator: id }),
    ),

    administratorProjects: rowsOf<AdministratorProjectRow>(
      'administrators',
      'administrator-project',
      ({ administratorId, name, projectUid }) => [administratorId, name, projectUid],
      ({ administratorId, name }) => ({ administrator: administratorId, project: name }),
    ),

    sessions: rowsOf<SessionRow>(
      'administrator_sessions',
      'administrator-session',
      (row) => [
        ...[row.id, hexOf(row.tokenHash), row.subject, row.name, listOf(row.roles), row.settings],
        ...[timeOf(row.createdAt), timeOf(row.expiresAt)],
      ],
      ({ id }) => ({ session: id }),
    ),

    trustRules: rowsOf<TrustRuleRow>(
      'trust_rules',
      'trust-rule',
      (row) => [
        ...[row.id, row.projectUid, row.name, row.issuer, row.audience, listOf(row.algorithms), listOf(row.claims)],
        ...[row.scope.access, listOf(row.scope.envs), String(row.minutes), timeOf(row.createdAt)],
      ],
      ({ id }) => ({ rule: id }),
    ),

    exchangedKeys: rowsOf<ExchangedKeyRow>(
      'exchanged_keys',
      'exchanged-key',
      (row) => [
        ...[row.id, row.projectUid, row.ruleId, hexOf(row.publicKey), row.subject],
        ...[row.scope.access, listOf(row.scope.envs), timeOf(row.createdAt), timeOf(row.expiresAt)],
      ],
      ({ id, ruleId }) => ({ key: id, rule: ruleId }),
    ),

    referenceRules: rowsOf<ReferenceRuleRow>(
      'reference_rules',
      'reference-rule',
      (row) => [
        ...[row.id, row.projectUid, row.readerUid, listOf(row.readerEnvs), listOf(row.envs), listOf(row.keys)],
        timeOf(row.createdAt),
      ],
      ({ id }) => ({ rule: id }),
    ),

    webhooks: rowsOf<WebhookRow>(
      'webhooks',
      'webhook',
      (row) => [row.id, row.projectUid, row.url, String(row.enabled), String(row.revision), timeOf(row.createdAt)],
      ({ id }) => ({ webhook: id }),
    ),

    deliveries: rowsOf<DeliveryRow>(
      'webhook_deliveries',
      'webhook-delivery',
      (row) => [row.id, row.webhookId, row.event, row.payload, timeOf(row.createdAt)],
      ({ id, webhookId }) => ({ delivery: id, webhook: webhookId }),
    ),
  }
}

/** The secrets of an environment and its ancestors, each with its environment: of those with the same key, the nearest. */
export function* effective<Row extends { readonly key: string }>(
  levels: readonly { readonly env: string; readonly current: readonly Row[] }[],
): Generator<[env: string, row: Row]> {
  const keys = levels.length > 1 ? new Set<string>() : undefined
  for (const { env, current } of levels)
    for (const row of current) {
      if (keys?.has(row.key) === true) continue
      keys?.add(row.key)
      yield [env, row]
    }
}

/** Compares a stored code with the expected one in constant time. Null means that the row was never authenticated. */
export function isCode(expected: Buffer, stored: Buffer | null): boolean {
  return stored !== null && stored.length === expected.length && timingSafeEqual(stored, expected)
}

/** Identifies a public key: the first 32 hex digits of its SHA-256. */
export function fingerprintOf(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 32)
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function timeOf(time: Date | null): string | null {
  return time?.toISOString() ?? null
}

function listOf(texts: readonly string[] | null): string | null {
  return texts === null ? null : encodeColumns(texts)
}

function withoutCode<Row extends { code: Buffer | null }>(row: Row): Omit<Row, 'code'> {
  const rest: Omit<Row, 'code'> & { code?: Buffer | null } = { ...row }
  delete rest.code
  return rest
}
