import { sql } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import type { Db } from '../db/schema.ts'
import { MAX_CLIENTS } from './client-census.ts'
import { type ClientRule, parseRule, ruleText } from './client-rules.ts'
import { type ClientStore, DAYS, type SeenClient } from './clients.ts'

/** Rules and counts of clients in Postgres. */
export function createClientStore(db: Db): ClientStore {
  return {
    rules: async () => {
      const row = await db.selectFrom('site_settings').select('client_rules').executeTakeFirstOrThrow()
      return rulesIn(row.client_rules)
    },

    change: (by, decide) =>
      db.transaction().execute(async (trx) => {
        const row = await trx.selectFrom('site_settings').select('client_rules').forUpdate().executeTakeFirstOrThrow()
        const rules = decide(rulesIn(row.client_rules))
        const [before, after] = [row.client_rules, rules?.map(ruleText) ?? null]
        await trx.updateTable('site_settings').set({ client_rules: after }).execute()
        const removed = without(before, after)
        const added = without(after, before)
        const target = { type: 'site', id: null, name: null } as const
        if (removed !== added || (before === null) !== (after === null))
          await recordAdminAction(trx, by, {
            action: 'clients.update',
            target,
            before: { clientRules: removed },
            after: { clientRules: added },
          })
        return rules
      }),

    write: (at, counts) =>
      db.transaction().execute(async (trx) => {
        const day = dayOf(at)
        await sql`
          insert into client_days as days (day, client, peers, users)
          select ${day}::date, * from unnest(
            ${counts.map(({ client }) => client)}::text[], ${counts.map(({ peers }) => peers)}::int[],
            ${counts.map(({ users }) => users)}::int[])
          on conflict (day, client) do update set
            peers = greatest(days.peers, excluded.peers), users = greatest(days.users, excluded.users)`.execute(trx)
        await sql`
          delete from client_days where day <= ${day}::date - ${DAYS}::int or day = ${day}::date and client not in (
            select client from client_days where day = ${day}::date order by peers desc, client limit ${MAX_CLIENTS}
          )`.execute(trx)
      }),

    seenSince: async (at) => {
      const { rows } = await sql<SeenClient>`
        with recent as (select * from client_days where day > ${dayOf(at)}::date)
        select client, max(users) as users, max(day)::timestamp at time zone 'UTC' as "lastSeen",
          greatest(1, round(sum(peers) / (select count(distinct day) from recent)))::int as peers,
          (sum(peers) / sum(sum(peers)) over ())::float8 as share
        from recent group by client order by sum(peers) desc, client limit ${MAX_CLIENTS}`.execute(db)
      return rows
    },
  }
}

function rulesIn(texts: readonly string[] | null): readonly ClientRule[] | null {
  return texts === null ? null : texts.flatMap((text) => parseRule(text) ?? [])
}

/** The rules of one list that another lacks, for the admin log; null for none. */
function without(texts: readonly string[] | null, others: readonly string[] | null): string | null {
  const found = texts?.filter((text) => others?.includes(text) !== true) ?? []
  return found.length === 0 ? null : found.join(', ')
}

/** The day in UTC. */
function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10)
}
