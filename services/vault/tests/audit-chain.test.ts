import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type CommandOutcome, captureCommand, eventually, type TestDatabase } from '@vault-and-tracker/dev-env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { runCommand } from '@vault-and-tracker/service-kit/lifecycle/command'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import pg from 'pg'
import { auditCommand } from '../src/commands/audit.command.ts'
import { readCommandConfig } from '../src/config.ts'
import { type Db, type Schema } from '../src/database.ts'
import { createVerificationStore } from '../src/integrity/chain.store.ts'
import { createRetentionStore } from '../src/integrity/retention.store.ts'
import { pruneAudit } from '../src/integrity/retention.ts'
import { type Verdict, verifyAudit } from '../src/integrity/verification.ts'
import { type ChainKeys, createChainKeys } from '../src/keyring/chain-keys.ts'
import { createChainKeyStore } from '../src/keyring/keyring.store.ts'
import { createProject, type Key, signedSend } from './support/client.ts'
import { createVaultDatabase, startVault, type TestVault, vaultEnv } from './support/vault.ts'

let vault: TestVault
let key: Key
let owner: pg.Client
let db: Db

beforeAll(async () => {
  vault = await startVault()
  key = await createProject(vault.url, 'shop')
  owner = new pg.Client({ connectionString: vault.database.ownerUrl })
  await owner.connect()
  const logger = createLogger({ name: 'test', level: 'silent' })
  db = createKysely<Schema>(createPool({ url: vault.database.ownerUrl, name: 'test', size: 2, logger }))
})
afterAll(async () => {
  await db.destroy()
  await owner.end()
  await vault.stop()
})

// Each test starts with an empty chain.
beforeEach(async () => {
  await owner.query('truncate audit, audit_seals, audit_prunings')
})

async function fetchSome(times: number): Promise<void> {
  const url = `${vault.url}/v1/secrets`
  await Promise.all(Array.from({ length: times }, () => signedSend({ project: 'shop', key, method: 'GET', url })))
}

function chainKeys(): ChainKeys {
  const config = readCommandConfig(vaultEnv({ databaseUrl: vault.database.appUrl, redisUrl: 'redis://localhost' }))
  return createChainKeys({ keyring: config.keyring, store: createChainKeyStore(db), clock: systemClock })
}

async function prune(before: string): Promise<readonly string[]> {
  const chainKey = await chainKeys().current()
  return pruneAudit({ store: createRetentionStore(db), chainKey, clock: systemClock }, before, { includeCurrent: true })
}

async function verify(expected?: { sealNo: number; code: string }): Promise<Verdict> {
  return verifyAudit({ store: createVerificationStore(db), key: await chainKeys().first() }, expected)
}

async function someRow(offset: number): Promise<{ seq: number; id: string }> {
  const { rows } = await owner.query<{ seq: string; id: string }>(
    'select seq, id from audit order by seq offset $1 limit 1',
    [offset],
  )
  return { seq: Number(rows[0]?.seq), id: String(rows[0]?.id) }
}

test('detects a row whose time was moved to BC', async () => {
  await fetchSome(3)
  await vault.seal()
  const { seq, id } = await someRow(1)
  await owner.query(
    "update audit set requested_at = (to_char(requested_at, 'YYYY-MM-DD HH24:MI:SS.USOF') || ' BC')::timestamptz where seq = $1",
    [seq],
  )
  expect(await verify()).toMatchObject({ intact: false, seq, id })
})

test('verifies a log of several batches', async () => {
  await fetchSome(10)
  expect(await vault.seal()).toBe(10)
  await fetchSome(15)
  expect(await vault.seal()).toBe(15)
  expect(await vault.seal()).toBe(0)
  expect(await verify()).toMatchObject({ intact: true, rows: 25, unsealed: 0, sealNo: 2 })
  await fetchSome(2)
  expect(await verify()).toMatchObject({ intact: true, rows: 25, unsealed: 2 })
})

test.each([
  ['its address', "update audit set ip = '6.6.6.6' where seq = $1"],
  [
    'its time, by a microsecond',
    "update audit set requested_at = requested_at + interval '1 microsecond' where seq = $1",
  ],
  ['its project', "update audit set project_id = 'other' where seq = $1"],
  ['its detail', "update audit set detail = '{}' where seq = $1"],
])('reports a row that lost %s', async (_name, statement) => {
  await fetchSome(10)
  await vault.seal()
  const row = await someRow(4)
  await owner.query(statement, [row.seq])
  expect(await verify()).toMatchObject({ intact: false, ...row })
})

test('reports a deleted row', async () => {
  await fetchSome(10)
  await vault.seal()
  const { seq } = await someRow(6)
  await owner.query('delete from audit where seq = $1', [seq])
  expect(await verify()).toMatchObject({ intact: false, seq, problem: expect.stringContaining('is missing') })
})

test('reports a row that was inserted later', async () => {
  await fetchSome(10)
  await vault.seal()
  const { seq } = await someRow(9)
  const id = '01890a5d-ac96-774b-bcce-b302099a8057'
  const forge = (number: number) =>
    owner.query(
      "insert into audit (id, seq, project_id, action, requested_at, ip) values ($1, $2, 'x', 'fetch', now(), '::1')",
      [id, number],
    )
  await forge(seq)
  expect(await verify()).toMatchObject({ intact: false, problem: expect.stringContaining('occurs twice') })
  await owner.query('delete from audit where id = $1', [id])
  await forge(1 - seq)
  expect(await verify()).toMatchObject({ intact: false, id, problem: expect.stringContaining('without a seal') })
})

test('detects swapped rows and a seal without the key', async () => {
  await fetchSome(4)
  await vault.seal()
  const [a, b] = [await someRow(0), await someRow(1)]
  await owner.query('update audit set seq = $1 + $2 - seq where seq in ($1, $2)', [a.seq, b.seq])
  expect(await verify()).toMatchObject({ intact: false, seq: a.seq })
  await owner.query('update audit set seq = $1 + $2 - seq where seq in ($1, $2)', [a.seq, b.seq])
  expect(await verify()).toMatchObject({ intact: true })
  await owner.query("update audit_seals set codes = overlay(codes placing '\\x00000000' from 1)")
  expect(await verify()).toMatchObject({ intact: false, seq: a.seq })
})

test('detects a truncated log with an expected seal', async () => {
  await fetchSome(3)
  await vault.seal()
  const before = await verify()
  await fetchSome(3)
  await vault.seal()
  const noted = await verify()
  if (!before.intact || !noted.intact) throw new Error('the log is broken before it was touched')
  expect(await verify(noted)).toMatchObject({ intact: true })
  await owner.query('delete from audit where seq > (select max(position) from audit_seals where seal_no = 1)')
  await owner.query('delete from audit_seals where seal_no = 2')
  expect(await verify()).toMatchObject({ intact: true })
  expect(await verify(before)).toMatchObject({ intact: true })
  expect(await verify(noted)).toMatchObject({ intact: false, problem: expect.stringContaining('seal 2') })
  expect(await verify({ ...before, code: noted.code })).toMatchObject({ intact: false })
})

test('builds one chain with two sealing replicas', async () => {
  const second = await vault.replica()
  try {
    for (let round = 0; round < 5; round++) {
      await Promise.all([fetchSome(20), vault.seal(), second.seal()])
    }
    await vault.seal()
    expect(await verify()).toMatchObject({ intact: true, rows: 100, unsealed: 0 })
  } finally {
    await second.stop()
  }
})

test('seals a row that becomes visible late', async () => {
  const slow = new pg.Client({ connectionString: vault.database.appUrl })
  await slow.connect()
  await slow.query('begin')
  const insert =
    "insert into audit (id, project_id, action, requested_at, ip) values ($1, 'slow', 'fetch', now(), '::1')"
  await slow.query(insert, ['01890a5d-ac96-774b-bcce-b302099a8058'])
  await fetchSome(3)
  expect(await vault.seal()).toBe(3)
  expect(await verify()).toMatchObject({ intact: true, rows: 3 })
  await slow.query('commit')
  await slow.end()
  expect(await verify()).toMatchObject({ intact: true, rows: 3 })
  await fetchSome(1)
  expect(await vault.seal()).toBe(2)
  expect(await verify()).toMatchObject({ intact: true, rows: 5, unsealed: 0 })
})

test('seals in the background, and the rest when it stops', async () => {
  const own = await vault.replica()
  own.context.background.start()
  await fetchSome(3)
  await eventually(async () => {
    const verdict = await verify()
    return !verdict.intact || verdict.rows === 3
  })
  expect(await verify()).toMatchObject({ intact: true, rows: 3 })
  await fetchSome(3)
  await own.context.background.stop()
  expect(await verify()).toMatchObject({ intact: true, rows: 6, unsealed: 0 })
  await own.stop()
})

test('verifies a log after months were pruned', async () => {
  const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1))
  const next = `${String(month.getUTCFullYear())}-${String(month.getUTCMonth() + 1).padStart(2, '0')}`
  await fetchSome(5)
  await expect(prune(next)).rejects.toThrow('unsealed')
  await vault.seal()
  expect(await prune(next)).toEqual([new Date().toISOString().slice(0, 7)])
  await vault.ensurePartitions()
  await fetchSome(2)
  await vault.seal()
  expect(await verify()).toMatchObject({ intact: true, rows: 2, pruned: 5 })
})

test('prunes the current month twice and keeps both records', async () => {
  const month = new Date().toISOString().slice(0, 7)
  for (const rows of [3, 4]) {
    await fetchSome(rows)
    await vault.seal()
    expect(await prune('9999-12')).toEqual([month])
  }
  // The month gets a new partition immediately, and later months keep theirs.
  expect(await createRetentionStore(db).months()).toHaveLength(4)
  await fetchSome(2)
  await vault.seal()
  expect(await verify()).toMatchObject({ intact: true, rows: 2, pruned: 7 })
})

test('refuses forged and changed records of pruned months', async () => {
  await fetchSome(8)
  await vault.seal()
  const { seq } = await someRow(3)
  const noted = await verify()
  if (!noted.intact) throw new Error(noted.problem)
  await owner.query('delete from audit where seq = $1', [seq])
  await owner.query(
    `insert into audit_prunings (month, first_seq, last_seq, rows, pruned_at) values ('2020-01-01', $1, $1, 1, now())`,
    [seq],
  )
  expect(await verify(noted)).toMatchObject({
    intact: false,
    problem: expect.stringContaining('2020-01'),
  })
  const { rows } = await owner.query<{ key_no: number }>('select key_no from audit_keys')
  await owner.query('update audit_prunings set key_no = $1, mac = $2', [rows[0]?.key_no, Buffer.alloc(32, 7)])
  expect((await verify()).intact).toBe(false)
})

test('reports missing rows whose numbers are among the pruned ones', async () => {
  const now = new Date()
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 7)
  await fetchSome(2)
  // With a clock that is ahead, this row is in a later partition, with a number among those of this month.
  await owner.query(
    `insert into audit (id, project_id, action, requested_at, ip)
     values (overlay('0199abcd-0000-7000-8000-000000000001' placing
       substr(lpad(to_hex((extract(epoch from now() + interval '40 days') * 1000)::bigint), 12, '0'), 1, 8) from 1 for 8)::uuid,
       'shop', 'fetch', now(), '127.0.0.1')`,
  )
  await fetchSome(2)
  await vault.seal()
  await prune(month)
  expect(await verify()).toMatchObject({ intact: true, pruned: 4, rows: 1 })
  await owner.query('delete from audit')
  expect(await verify()).toMatchObject({ intact: false, problem: expect.stringMatching(/5 rows.*4/) })
  await vault.ensurePartitions()
})

test('reports a forged seal, and verifies the chain once it is deleted', async () => {
  await fetchSome(2)
  await vault.seal()
  await owner.query(`insert into audit_seals (seal_no, key_no, seqs, codes, position, gaps, sealed_at, mac)
    select seal_no + 1, key_no, seqs, codes, position, gaps, sealed_at, mac from audit_seals`)
  await fetchSome(2)
  expect(await vault.seal()).toBe(2)
  expect(await verify()).toMatchObject({ intact: false, problem: expect.stringContaining('seal 2') })
  await owner.query('delete from audit_seals where seal_no = 2')
  expect(await verify()).toMatchObject({ intact: true, rows: 4, sealNo: 3 })
})

test('continues a log of an earlier release without codes of seals', async () => {
  await fetchSome(2)
  await vault.seal()
  await owner.query('update audit_seals set mac = null')
  await fetchSome(2)
  expect(await vault.seal()).toBe(2)
  expect(await verify()).toMatchObject({ intact: true, rows: 4, sealNo: 2 })
  await expect(
    owner.query(`insert into audit_seals (seal_no, key_no, seqs, codes, position, gaps, sealed_at)
      select seal_no + 1, key_no, seqs, codes, position, gaps, sealed_at from audit_seals order by seal_no desc limit 1`),
  ).rejects.toThrow('a seal follows the last one')
})

test('does not let fetches wait for pruning behind a long reader', async () => {
  const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1))
  const next = `${String(month.getUTCFullYear())}-${String(month.getUTCMonth() + 1).padStart(2, '0')}`
  await fetchSome(1)
  await vault.seal()
  await owner.query('begin')
  await owner.query('lock table audit in access share mode')
  const pruning = prune(next)
  const refusal = expect(pruning).rejects.toThrow('another session is reading the audit log')
  const answer = await signedSend({ project: 'shop', key, method: 'GET', url: `${vault.url}/v1/secrets` })
  expect(answer.status).toBe(200)
  await refusal
  await owner.query('rollback')
  expect((await verify()).intact).toBe(true)
})

describe('the command', () => {
  let database: TestDatabase
  let env: Record<string, string>

  beforeAll(async () => {
    database = await createVaultDatabase()
    const vault = await startVault({}, { database })
    await createProject(vault.url, 'shop')
    await vault.seal()
    await vault.stop()
    env = { ...vaultEnv({ databaseUrl: database.appUrl, redisUrl: '' }), MIGRATION_DATABASE_URL: database.ownerUrl }
  })
  afterAll(() => database.drop())

  function audit(args: readonly string[], given = env): Promise<CommandOutcome> {
    return captureCommand((terminal) => runCommand(auditCommand, terminal), { args, env: given })
  }

  test('exits with 0 for an intact log, and accepts its last seal', async () => {
    const first = await audit(['verify'])
    expect([first.status, first.stderr]).toEqual([0, ''])
    const { sealNo, code } = JSON.parse(first.stdout) as { sealNo: number; code: string }
    expect(await audit(['verify', '--expect', `${String(sealNo)}:${code}`])).toEqual(first)
    const other = await audit(['verify', '--expect', `${String(sealNo)}:${'0'.repeat(64)}`])
    expect([other.status, JSON.parse(other.stdout)]).toMatchObject([1, { intact: false }])
  })

  test('succeeds without rows to prune', async () => {
    expect(await audit(['prune', '--before', '2020-01'])).toEqual({ status: 0, stdout: '{"dropped":[]}\n', stderr: '' })
  })

  test('prunes the current month only with --include-current', async () => {
    const month = new Date().toISOString().slice(0, 7)
    const refused = await audit(['prune', '--before', '9999-12'])
    expect(refused).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(`${month} is not over`) })
    expect(JSON.parse((await audit(['verify'])).stdout)).toMatchObject({ intact: true, rows: 1, pruned: 0 })

    const told = ['prune', '--before', '9999-12', '--include-current']
    const done = { status: 0, stdout: `{"dropped":["${month}"]}\n`, stderr: '' }
    expect([await audit(told), await audit(told)]).toEqual([done, done])
    expect(JSON.parse((await audit(['verify'])).stdout)).toMatchObject({ intact: true, rows: 0, pruned: 1 })
  })

  test.each([
    [[], 'Usage: audit'],
    [['verify', '--expect', '12'], '--expect'],
    [['verify', '--before', '2027-01'], '--before'],
    [['prune'], '--before'],
    [['prune', '--before', '2027-13'], '--before'],
  ])('exits with 2 for %j', async (args, message) => {
    const outcome = await audit(args)
    expect(outcome).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(message) })
    expect(outcome.stderr).toContain('Usage: audit')
  })

  test('exits with 2 if the log cannot be read', async () => {
    const unset = await audit(['verify'], {})
    expect(unset).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('DATABASE_URL') })
    const unavailable = await audit(['verify'], { ...env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' })
    expect(unavailable).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('audit: ') })
  })
})
