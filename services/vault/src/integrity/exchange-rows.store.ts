import { type RawBuilder, sql } from 'kysely'
import { ACCESS, type ExchangedRef, type Scope } from '../access/project-caller.ts'
import type { Db } from '../database.ts'
import { markOf, projectsWithKeys, toProjects } from './rows.store.ts'
import type { ExchangedKeyRow, Sealed, SealedProject, TrustRuleRow } from './rows.ts'

/** A stored rule, with the name of its project. */
export type StoredTrustRule = Sealed<TrustRuleRow> & { readonly project: string }

/** A stored key, with the name of its rule. */
export type StoredExchangedKey = Sealed<ExchangedKeyRow> & { readonly rule: string; readonly lastUsedAt: Date | null }

/** A key that has expired or was revoked. */
export type EndedExchangedKey = {
  readonly name: string
  readonly publicKey: Buffer
  readonly subject: string
  readonly scope: Scope
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  readonly endedAt: Date
  readonly revoked: boolean
}

/** Selects trust rules as `r`. A rule that was removed and put back has a code that does not verify. */
export function trustRules(db: Db) {
  return db
    .selectFrom('trust_rules as r')
    .innerJoin('projects as p', 'p.uid', 'r.project_uid')
    .select(['r.id', 'r.project_uid', 'p.name as project', 'r.name', 'r.issuer', 'r.audience', 'r.algorithms'])
    .select(['r.claims', 'r.access', 'r.envs', 'r.minutes', 'r.created_at'])
    .select(
      sql<Buffer>`case when ${markOf('r.id', sql.lit('trust-rule'))} = 1 then r.code else ''::bytea end`.as('code'),
    )
}

/** Whether the key `x` of the rule `r` was not revoked, nor its rule removed. Both are true of rows that were put back. */
const IS_UNMARKED = sql<boolean>`(${markOf('x.id', sql.lit('exchanged-key'))} is null
  and ${markOf('r.id', sql.lit('trust-rule'))} = 1)`

const CODE = sql<Buffer>`case when ${IS_UNMARKED} then x.code else ''::bytea end`

/** Selects exchanged keys as `x`. A key that was revoked and put back has a code that does not verify. */
export function exchangedKeys(db: Db) {
  return db
    .selectFrom('exchanged_keys as x')
    .innerJoin('trust_rules as r', 'r.id', 'x.rule_id')
    .select(['x.id', 'x.project_uid', 'x.rule_id', 'r.name as rule', 'x.public_key', 'x.subject', 'x.access', 'x.envs'])
    .select(['x.created_at', 'x.expires_at', 'x.last_used_at', CODE.as('code')])
}

/** Returns a project, and its exchanged key with this public key, in one statement. */
export async function readProjectWithExchangedKey(
  db: Db,
  name: string,
  publicKey: Buffer,
): Promise<
  | {
      project: SealedProject
      exchanged: StoredExchangedKey | undefined
      ended: { name: string; revoked: boolean } | undefined
    }
  | undefined
> {
  const rows = await projectsWithKeys(db)
    .leftJoin('exchanged_keys as x', (join) =>
      join.onRef('x.project_uid', '=', 'p.uid').on('x.public_key', '=', publicKey),
    )
    .leftJoin('trust_rules as r', 'r.id', 'x.rule_id')
    .select(['x.id as x_id', 'x.rule_id', 'r.name as rule', 'x.subject', 'x.access as x_access', 'x.envs as x_envs'])
    .select(['x.created_at as x_created_at', 'x.expires_at as x_expires_at', CODE.as('x_code')])
    .leftJoin('ended_exchanged_keys as e', (join) =>
      join.onRef('e.project_uid', '=', 'p.uid').on('e.public_key', '=', publicKey).on(IS_REMEMBERED),
    )
    .select(['e.name as ended_name', 'e.revoked'])
    .where('p.name', '=', name)
    .orderBy('k.id')
    .execute()
  const [project] = toProjects(rows)
  const [row] = rows
  if (project === undefined || row === undefined) return undefined
  const { uid, x_id: id, rule_id: ruleId, rule, subject, x_created_at: createdAt, x_expires_at: expiresAt } = row
  const ended =
    row.ended_name === null || row.revoked === null ? undefined : { name: row.ended_name, revoked: row.revoked }
  if (id === null || ruleId === null || rule === null || subject === null || createdAt === null || expiresAt === null)
    return { project, exchanged: undefined, ended }
  const scope = toScope(row.x_access, row.x_envs)
  const key = {
    ...{ id, projectUid: uid, ruleId, rule, publicKey, subject, scope, createdAt, expiresAt },
    lastUsedAt: null,
  }
  return { project, exchanged: { ...key, code: row.x_code }, ended }
}

/** Expired and revoked keys are remembered for as long as those of the project itself. */
const IS_REMEMBERED = sql<boolean>`e.ended_at > now() - interval '30 days'`

/** How many expired or revoked keys of a project are remembered: enough for a few hundred jobs a day. */
const MAX_ENDED = 5_000

/**
 * Returns the latest keys of a project that expired or were revoked in the last 30 days, including those whose row was
 * not removed yet.
 */
export async function readEndedExchangedKeys(
  db: Db,
  projectUid: string,
  limit: number,
): Promise<readonly EndedExchangedKey[]> {
  const { rows } = await sql<Omit<EndedExchangedKey, 'scope'> & { access: string; envs: string[] | null }>`
    select name, public_key as "publicKey", subject, access, envs, created_at as "createdAt",
      last_used_at as "lastUsedAt", ended_at as "endedAt", revoked
    from (
      select * from ended_exchanged_keys where project_uid = ${projectUid}
      union all
      ${endedNow(sql`x.project_uid = ${projectUid} and x.expires_at <= now()`)}
    ) as e
    where ${IS_REMEMBERED} order by ended_at desc limit ${limit}`.execute(db)
  return rows.map(({ access, envs, ...row }) => ({ ...row, scope: toScope(access, envs) }))
}

/** Selects keys `x` of rules `r` as they are remembered if they end now. */
function endedNow(which: RawBuilder<unknown>) {
  return sql`select x.project_uid, x.public_key, r.name, x.subject, x.access, x.envs, x.created_at, x.last_used_at,
      least(x.expires_at, now()) as ended_at, x.expires_at > now() as revoked
    from exchanged_keys x join trust_rules r on r.id = x.rule_id where ${which}`
}

/** Remembers keys `x` of a project, which the caller deletes. */
export async function rememberExchangedKeys(trx: Db, projectUid: string, which: RawBuilder<unknown>): Promise<void> {
  const { numAffectedRows = 0n } = await sql`
    insert into ended_exchanged_keys ${endedNow(sql`x.project_uid = ${projectUid} and ${which}`)}
    on conflict do nothing`.execute(trx)
  if (numAffectedRows > 0n)
    await sql`delete from ended_exchanged_keys e where e.project_uid = ${projectUid} and (not (${IS_REMEMBERED})
      or e.ended_at <= (
        select ended_at from ended_exchanged_keys where project_uid = ${projectUid}
        order by ended_at desc offset ${MAX_ENDED} limit 1
      ))`.execute(trx)
}

/**
 * Whether the statement for a caller finds the row of their exchanged key, which was not changed, and has not expired by
 * the clock of the database.
 */
export function isExchangedKeyValid({ id, code }: ExchangedRef) {
  return sql<boolean>`exists (
    select from exchanged_keys x join trust_rules r on r.id = x.rule_id
    where x.id = ${id} and x.project_uid = p.uid and x.code = ${code} and x.expires_at > now() and ${IS_UNMARKED}
  )`
}

type RuleColumns = Awaited<ReturnType<ReturnType<typeof trustRules>['execute']>>[number]
type KeyColumns = Awaited<ReturnType<ReturnType<typeof exchangedKeys>['execute']>>[number]

/** Returns the rule of a row of `trustRules`. */
export function toTrustRule({
  project_uid: projectUid,
  access,
  envs,
  created_at: createdAt,
  ...row
}: RuleColumns): StoredTrustRule {
  return { ...row, projectUid, scope: toScope(access, envs), createdAt }
}

/** Returns the key of a row of `exchangedKeys`. */
export function toExchangedKey(row: KeyColumns): StoredExchangedKey {
  const { project_uid: projectUid, rule_id: ruleId, public_key: publicKey, access, envs, ...rest } = row
  const { id, rule, subject, created_at: createdAt, expires_at: expiresAt, last_used_at: lastUsedAt, code } = rest
  return {
    ...{ id, projectUid, ruleId, rule, publicKey, subject, scope: toScope(access, envs) },
    ...{ createdAt, expiresAt, lastUsedAt, code },
  }
}

function toScope(access: string | null, envs: readonly string[] | null): Scope {
  return { access: ACCESS.find((known) => known === access) ?? 'read', envs }
}
