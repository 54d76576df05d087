import type { QueryResultRow } from 'pg'
import { createAuthenticRows } from '../../src/integrity/rows.ts'
import type { ChainKeys } from '../../src/keyring/chain-keys.ts'

type Key = { id: string; project_uid: string; rule_id: string; public_key: Buffer; subject: string } & {
  access: 'read' | 'write' | 'read-write'
  envs: string[] | null
  created_at: Date
  expires_at: Date
}
type Delivery = { id: string; webhook_id: string; event: string; payload: string; created_at: Date }

type Sql = <Row extends QueryResultRow>(statement: string, parameters?: readonly unknown[]) => Promise<readonly Row[]>

/**
 * Makes exchanged keys and deliveries older, as if time had passed. Their times are those of Postgres and Redis, which tests
 * cannot change, and codes cover them.
 */
export async function makeOlder({ sql }: { readonly sql: Sql }, chainKeys: ChainKeys, ms: number): Promise<void> {
  const rows = createAuthenticRows(await chainKeys.first(), () => undefined)
  const before = (time: Date): Date => new Date(time.getTime() - ms)
  const keys = (await sql<Key>('select * from exchanged_keys')).map((key) =>
    rows.exchangedKeys.seal({
      ...{ id: key.id, projectUid: key.project_uid, ruleId: key.rule_id, publicKey: key.public_key },
      ...{ subject: key.subject, scope: { access: key.access, envs: key.envs } },
      ...{ createdAt: before(key.created_at), expiresAt: before(key.expires_at) },
    }),
  )
  await sql(
    `update exchanged_keys x set created_at = k.created_at, expires_at = k.expires_at, code = k.code
     from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::bytea[]) as k (id, created_at, expires_at, code)
     where x.id = k.id`,
    [keys.map(({ id }) => id), keys.map(({ createdAt }) => createdAt), keys.map(({ expiresAt }) => expiresAt)].concat([
      keys.map(({ code }) => code) as never,
    ]),
  )
  await sql("update ended_exchanged_keys set ended_at = ended_at - $1 * interval '1 ms'", [ms])
  for (const { id, webhook_id: webhookId, event, payload, ...delivery } of await sql<Delivery>(
    'select * from webhook_deliveries',
  )) {
    const { code, createdAt } = rows.deliveries.seal({
      ...{ id, webhookId, event, payload, createdAt: before(delivery.created_at) },
    })
    const set = `update webhook_deliveries set created_at = $2, code = $3, next_at = next_at - $4 * interval '1 ms',
      leased_until = leased_until - $4 * interval '1 ms' where id = $1`
    await sql(set, [id, createdAt, code, ms])
  }
  await sql("update webhooks set retry_at = retry_at - $1 * interval '1 ms'", [ms])
}
