import { sql } from 'kysely'
import { ACCESS, type Scope } from '../access/project-caller.ts'
import type { Db } from '../database.ts'
import { markOf } from './rows.store.ts'
import type { ExchangedKeyRow, Sealed, TrustRuleRow } from './rows.ts'

/** A stored rule, with the name of its project. */
export type StoredTrustRule = Sealed<TrustRuleRow> & { readonly project: string }

/** A stored key, with the name of its rule. */
export type StoredExchangedKey = Sealed<ExchangedKeyRow> & { readonly rule: string; readonly lastUsedAt: Date | null }

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

/** Selects exchanged keys as `x`, whose rules exist. A key that was revoked and put back has a code that does not verify. */
export function exchangedKeys(db: Db) {
  return db
    .selectFrom('exchanged_keys as x')
    .innerJoin('trust_rules as r', 'r.id', 'x.rule_id')
    .select(['x.id', 'x.project_uid', 'x.rule_id', 'r.name as rule', 'x.public_key', 'x.subject', 'x.access', 'x.envs'])
    .select(['x.created_at', 'x.expires_at', 'x.last_used_at'])
    .select(
      sql<Buffer>`case when ${markOf('x.id', sql.lit('exchanged-key'))} is null then x.code else ''::bytea end`.as(
        'code',
      ),
    )
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

function toScope(access: string, envs: readonly string[] | null): Scope {
  return { access: ACCESS.find((known) => known === access) ?? 'read', envs }
}
