import { type Expression, sql } from 'kysely'
import { ACCESS, type ProjectCaller } from '../access/project-caller.ts'
import { anyUuid, type Db } from '../database.ts'
import {
  type AdministratorRow,
  type EnvironmentSeal,
  MAX_ANCESTORS,
  type Sealed,
  type SealedProject,
  type StoredEnvironment,
} from './rows.ts'

/** Returns a project with its keys. */
export async function readProject(db: Db, name: string): Promise<SealedProject | undefined> {
  return toProjects(await projectsWithKeys(db).where('p.name', '=', name).orderBy('k.id').execute())[0]
}

/** Returns all projects with their keys, by name. */
export async function readProjects(db: Db): Promise<readonly SealedProject[]> {
  return toProjects(await projectsWithKeys(db).orderBy('p.name').orderBy('k.id').execute())
}

/** Returns the projects with these names, without their keys. */
export async function readProjectsWithoutKeys(db: Db, names: readonly string[]): Promise<readonly SealedProject[]> {
  const rows = await db
    .selectFrom('projects as p')
    .select(['p.uid', 'p.name', 'p.require_content_digest as requireContentDigest', 'p.created_at as createdAt'])
    .select(['p.generation', projectCode().as('code')])
    .where('p.name', '=', sql<string>`any(${[...names]}::text[])`)
    .execute()
  return rows.map((row) => ({ ...row, keys: [] }))
}

/** Writes a locked project and its keys after a change, in a few statements however many keys it has. */
export async function writeProject(trx: Db, before: SealedProject, after: SealedProject): Promise<void> {
  const { uid, requireContentDigest, generation, code } = after
  const kept = new Set(after.keys.map(({ id }) => id))
  await trx
    .updateTable('projects')
    .set({ require_content_digest: requireContentDigest, generation, code })
    .where('uid', '=', uid)
    .execute()
  const removed = before.keys.map(({ id }) => id).filter((id) => !kept.has(id))
  // First, because an expired or revoked key may have been added again.
  if (removed.length > 0) await trx.deleteFrom('project_keys').where('id', '=', anyUuid(removed)).execute()
  if (after.keys.length === 0) return
  await trx
    .insertInto('project_keys')
    .values(after.keys.map((key) => keyRow(uid, key)))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        not_after: eb.ref('excluded.not_after'),
        revoked_at: eb.ref('excluded.revoked_at'),
        code: eb.ref('excluded.code'),
      })),
    )
    .execute()
}

/** Returns the row of a key. */
export function keyRow(projectUid: string, key: SealedProject['keys'][number]) {
  return {
    id: key.id,
    project_uid: projectUid,
    name: key.name,
    public_key: Buffer.from(key.publicKey),
    created_at: key.createdAt,
    not_after: key.notAfter,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    access: key.scope.access,
    envs: key.scope.envs === null ? null : [...key.scope.envs],
    code: key.code,
  }
}

/** Selects projects as `p` with their keys as `k`, in one statement, so that both are of the same generation. */
export function projectsWithKeys(db: Db) {
  return db
    .selectFrom('projects as p')
    .leftJoin('project_keys as k', 'k.project_uid', 'p.uid')
    .select(['p.uid', 'p.name', 'p.require_content_digest', 'p.created_at', 'p.generation'])
    .select(projectCode().as('code'))
    .select(['k.id', 'k.public_key', 'k.created_at as key_created_at', 'k.not_after', 'k.access', 'k.envs'])
    .select(['k.name as key_name', 'k.expires_at', 'k.revoked_at', 'k.last_used_at', 'k.code as key_code'])
}

/** The code of a row `p` of `projects`. */
function projectCode() {
  return codeUnlessOlder({ id: 'p.uid', number: sql.ref('p.generation'), code: 'p.code' }, 'project')
}

type ProjectAndKey = Awaited<ReturnType<ReturnType<typeof projectsWithKeys>['execute']>>[number]

/** Returns the projects of rows of `projectsWithKeys`, sorted by key. */
export function toProjects(rows: readonly ProjectAndKey[]): readonly SealedProject[] {
  const projects = new Map<string, SealedProject & { keys: SealedProject['keys'][number][] }>()
  for (const row of rows) {
    const { uid, name, require_content_digest: requireContentDigest, created_at: createdAt, generation, code } = row
    const project = projects.get(uid) ?? { uid, name, requireContentDigest, createdAt, generation, code, keys: [] }
    projects.set(uid, project)
    if (row.id === null || row.key_name === null || row.public_key === null || row.key_created_at === null) continue
    project.keys.push({
      id: row.id,
      name: row.key_name,
      publicKey: row.public_key,
      createdAt: row.key_created_at,
      notAfter: row.not_after,
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
      scope: { access: ACCESS.find((known) => known === row.access) ?? 'read', envs: row.envs },
      lastUsedAt: row.last_used_at,
      code: row.key_code,
    })
  }
  return [...projects.values()]
}

/**
 * Reads an environment and locks it until the transaction ends, so that its changes are serialised. An environment without
 * a row is protected by the lock on the project's data key.
 */
export async function lockEnvironment(trx: Db, projectUid: string, env: string): Promise<StoredEnvironment> {
  const stored = await trx
    .selectFrom('environments')
    .select(['revision', 'parent', environmentCode().as('code')])
    .where('project_uid', '=', projectUid)
    .where('env', '=', env)
    .forUpdate()
    .executeTakeFirst()
  const current = await trx
    .selectFrom('secrets')
    .select(['key', 'version'])
    .where('project_uid', '=', projectUid)
    .where('env', '=', env)
    .execute()
  return { projectUid, env, current, stored }
}

/** The code of a row of `environments`. */
export function environmentCode() {
  const columns = { id: 'environments.project_uid', number: sql.ref<number>('environments.revision'), code: 'code' }
  return codeUnlessOlder(columns, sql<string>`'env:' || environments.env`)
}

const depths = Array.from({ length: MAX_ANCESTORS + 1 }, (_, depth) => depth)

/**
 * The levels of an environment, the nearest first, in statements of their own: joins that follow the row `c` with the
 * columns `reads` and `env`, and give a row `l` (`depth`, `env`, `revision`, `parent`, `code`) for the environment itself,
 * which may have no seal, and one for each ancestor. A fixed number of joins by primary key is as fast as none, unlike a
 * recursive query.
 */
export const LEVELS = `${depths
  .map((depth) =>
    depth === 0
      ? 'left join environments e0 on e0.project_uid = c.reads and e0.env = c.env'
      : `left join environments e${depth} on e${depth}.project_uid = c.reads and e${depth}.env = e${depth - 1}.parent`,
  )
  .join('\n')}
  cross join lateral (values ${depths
    .map(
      (depth) =>
        `(${depth}, ${depth === 0 ? 'c.env' : `e${depth}.env`}, e${depth}.revision, e${depth}.parent, e${depth}.code)`,
    )
    .join(', ')}) as l (depth, env, revision, parent, code)`

/** The condition of the rows of `LEVELS`. */
export const IS_LEVEL = '(l.depth = 0 or l.revision is not null)'

/** The code of a level `l` of the project `reads`, or no bytes if it is older than its mark. */
export const LEVEL_CODE = `case when l.revision >= (
    select m.number from high_water_marks m where m.id = l.reads and m.subject = 'env:' || l.env
  ) then l.code else ''::bytea end`

type Collected<Row> = { -readonly [Name in keyof StoredEnvironment]: StoredEnvironment[Name] } & {
  readonly current: Row[]
}

/**
 * A row of a level: its revision and code, or the key of a secret with its version and its blob. The names are null if
 * another row has them, the rest if it is not stored or was not read.
 */
export type LevelRow = [
  depth: number,
  env: string | null,
  parent: string | null,
  key: string | null,
  number: number | null,
  bytes: Buffer | null,
]

/**
 * Collects the rows of an environment and its ancestors, which come in any order.
 *
 * @param toCurrent returns the current version of a secret
 */
export function collectLevels<Current extends StoredEnvironment['current'][number]>(
  projectUid: string,
  env: string,
  toCurrent: (key: string, version: number, blob: Buffer | null) => Current,
) {
  const newLevel = (name: string): Collected<Current> => ({ projectUid, env: name, current: [], stored: undefined })
  const levels = [newLevel(env)]
  return {
    levels,
    add: (...[depth, name, parent, key, number, bytes]: LevelRow): void => {
      const level = (levels[depth] ??= newLevel(''))
      if (name !== null) level.env = name
      if (number === null) return
      if (key !== null) level.current.push(toCurrent(key, number, bytes))
      else if (bytes !== null) level.stored = { revision: number, parent, code: bytes }
    },
  }
}

/** Parts of a statement that joins the key of each caller `asked` of a project `p`. */
type KeyJoin = {
  /** The suffix of the name of the prepared statement. */
  readonly suffix: string
  readonly parameters: string
  readonly columns: string
  readonly join: string
}

const OWN_KEY = `project_keys k on k.project_uid = p.uid and k.public_key = asked.public_key
  and (k.not_after is null or k.not_after > asked.now)`

/** The condition on exchanged keys is that of `isExchangedKeyValid`. */
const ANY_KEY = `left join ${OWN_KEY}
  left join exchanged_keys x on x.id = asked.x_id and x.project_uid = p.uid and x.code = asked.x_code
    and x.expires_at > now()
  where case when asked.x_id is null then k.id is not null else
    1 = (select m.number from high_water_marks m where m.id = x.rule_id and m.subject = 'trust-rule')
    and not exists (select from high_water_marks m where m.id = x.id and m.subject = 'exchanged-key') end`

/**
 * Returns the statement for callers and its values. There is one for callers with keys of their projects, and one for
 * callers some of whom have exchanged keys: Postgres plans the latter each time, which takes as long as the rest.
 *
 * @param next the number of the first parameter after those of the statement
 */
export function forKeysOfCallers<Statement extends object>(next: number, create: (keys: KeyJoin) => Statement) {
  const own = create({ suffix: '', parameters: '', columns: '', join: `join ${OWN_KEY}` })
  const any = create({
    suffix: '-exchanged',
    parameters: `, $${String(next)}::uuid[], $${String(next + 1)}::bytea[]`,
    columns: ', x_id, x_code',
    join: ANY_KEY,
  })
  return (callers: readonly ProjectCaller[], values: readonly unknown[]): Statement & { values: unknown[] } => {
    if (callers.every(({ exchanged }) => exchanged === undefined)) return { ...own, values: [...values] }
    const given = callers.map(({ exchanged }) => exchanged)
    return {
      ...any,
      values: [...values, given.map((each) => each?.id ?? null), given.map((each) => each?.code ?? null)],
    }
  }
}

/** Writes the seal of a locked environment. */
export async function writeEnvironment(
  trx: Db,
  { projectUid, env }: StoredEnvironment,
  { revision, parent, code }: EnvironmentSeal,
): Promise<void> {
  await trx
    .insertInto('environments')
    .values({ project_uid: projectUid, env, revision, parent, code })
    .onConflict((conflict) => conflict.columns(['project_uid', 'env']).doUpdateSet({ revision, parent, code }))
    .execute()
}

/** Returns all named administrators in the order in which they were added. */
export async function readAdministrators(db: Db): Promise<readonly Sealed<AdministratorRow>[]> {
  return administrators(db).orderBy('id').execute()
}

/** Returns the administrator with this token hash, or this id. */
export async function findAdministrator(
  db: Db,
  by: { readonly tokenHash: Buffer } | { readonly id: string },
): Promise<Sealed<AdministratorRow> | undefined> {
  const all = administrators(db)
  const found = 'id' in by ? all.where('id', '=', by.id) : all.where('token_hash', '=', by.tokenHash)
  return found.executeTakeFirst()
}

function administrators(db: Db) {
  return db
    .selectFrom('administrators')
    .select(['id', 'name', 'token_hash as tokenHash', 'role', 'projects'])
    .select(['created_at as createdAt', 'expires_at as expiresAt'])
    .select(codeUnlessOlder({ id: 'administrators.id', number: sql.lit(1), code: 'code' }, 'administrator').as('code'))
}

/** The subject of a mark; that of an environment is `env:` and its name. See the migration `0007-tampering`. */
type Subject = Expression<string> | 'project' | 'administrator'

/** The highest number a row has had, in one lookup by primary key. Null without a mark, so that every comparison fails. */
export function markOf(id: string, subject: Subject) {
  return sql<
    number | null
  >`(select m.number from high_water_marks m where m.id = ${sql.ref(id)} and m.subject = ${subject})`
}

/** The code of a row, or no bytes if the row is older than its mark. */
function codeUnlessOlder(columns: { id: string; number: Expression<number>; code: string }, subject: Subject) {
  const { id, number, code } = columns
  return sql<Buffer>`case when ${number} >= ${markOf(id, subject)} then ${sql.ref(code)} else ''::bytea end`
}
