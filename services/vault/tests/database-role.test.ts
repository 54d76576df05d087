import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import {
  admin,
  createProject,
  fingerprintOf,
  type Key,
  newKey,
  send,
  signedSend,
  statusAndError,
} from './support/client.ts'
import { audit, rows } from './support/rows.ts'
import { connectSql, type Sql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
/** A connection with the rights of the service. */
let runtime: Sql

beforeAll(async () => {
  vault = await startVault()
  runtime = await connectSql(vault.database.appUrl)
})
afterAll(async () => {
  await runtime.end()
  await vault.stop()
})

const request = (project: string, key: Key, method = 'GET', body?: unknown) =>
  signedSend({ project, key, method, url: `${vault.url}/v1/secrets`, body })

const put = (project: string, key: Key, name: string, value: string) =>
  request(project, key, 'PUT', { key: name, value, env: 'production' })

async function refusedRows(table: string): Promise<number> {
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  return Number(new RegExp(`^vault_refused_rows_total\\{table="${table}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
}

/** The rows of a project in a table, to restore later. */
async function rowsOf(table: string, project: string): Promise<string> {
  const [row] = await runtime<{ rows: string }>(
    `select jsonb_agg(to_jsonb(t))::text as rows from ${table} t
     join projects p on p.uid::text = coalesce(to_jsonb(t) ->> 'project_uid', to_jsonb(t) ->> 'uid') where p.name = $1`,
    [project],
  )
  return row?.rows ?? '[]'
}

const insertRows = (table: string, rows: string) =>
  runtime(`insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`, [rows])

test('refuses and counts an inserted key, which a rotation removes', async () => {
  const own = await createProject(vault.url, 'inserted')
  await put('inserted', own, 'A', 'value')
  const foreign = newKey()
  await runtime(
    `insert into project_keys (id, project_uid, public_key, created_at, not_after)
     select gen_random_uuid(), uid, $1, now(), '2099-01-01' from projects where name = 'inserted'`,
    [Buffer.from(foreign.publicKeyHex, 'hex')],
  )
  const before = await refusedRows('project_keys')
  expect(statusAndError(await request('inserted', foreign))).toEqual([401, 'invalid_signature'])
  expect(await refusedRows('project_keys')).toBeGreaterThan(before)
  expect((await request('inserted', own)).body).toEqual({ A: 'value' })
  expect((await admin(vault.url, 'PUT', '/projects/inserted/rotate')).status).toBe(200)
  const [row] = await runtime<{ count: string }>('select count(*) from project_keys where public_key = $1', [
    Buffer.from(foreign.publicKeyHex, 'hex'),
  ])
  expect(Number(row?.count)).toBe(0)
})

test('refuses a replaced key whose row was restored', async () => {
  const old = await createProject(vault.url, 'replayed')
  const rows = await rowsOf('project_keys', 'replayed')
  await admin(vault.url, 'PUT', '/projects/replayed/rotate', { publicKey: newKey().publicKeyHex, overlap: 0 })
  await runtime(`delete from project_keys where public_key = $1`, [Buffer.from(old.publicKeyHex, 'hex')])
  await insertRows('project_keys', rows)
  vault.advance(61_000)
  expect(statusAndError(await request('replayed', old))).toEqual([401, 'invalid_signature'])
})

test('refuses a key that was revoked while its row was missing or unreadable', async () => {
  const attacks = {
    missing: {
      hide: `delete from project_keys where name = 'ci'`,
      restore: 'insert into project_keys select old.* from jsonb_populate_recordset(null::project_keys, $1::jsonb) old',
    },
    unreadable: {
      hide: `update project_keys set code = '' where name = 'ci'`,
      restore: `insert into project_keys select old.* from jsonb_populate_recordset(null::project_keys, $1::jsonb) old
        on conflict (id) do update set code = excluded.code`,
    },
  }
  for (const [project, { hide, restore }] of Object.entries(attacks)) {
    const key = newKey()
    await createProject(vault.url, project)
    await admin(vault.url, 'POST', `/projects/${project}/keys`, { name: 'ci', publicKey: key.publicKeyHex })
    expect((await request(project, key)).status).toBe(200)
    const all = JSON.parse(await rowsOf('project_keys', project)) as { name: string }[]
    await runtime(hide)
    const fingerprint = fingerprintOf(key)
    expect((await admin(vault.url, 'DELETE', `/projects/${project}/keys/${fingerprint}`)).status).toBe(404)
    const entries = (await admin(vault.url, 'GET', `/audit?projectId=${project}&action=all`)).body
    expect((entries as object[])[0]).toMatchObject({ action: 'project.update', detail: { missingKey: fingerprint } })
    await runtime(restore, [JSON.stringify(all.filter(({ name }) => name === 'ci'))])
    vault.advance(61_000)
    expect([project, ...(statusAndError(await request(project, key)) as [])]).toEqual([
      ...[project, 401, 'invalid_signature'],
    ])
    await admin(vault.url, 'DELETE', `/projects/${project}`)
  }
})

test('refuses a key whose expiry was changed', async () => {
  const old = await createProject(vault.url, 'extended')
  await admin(vault.url, 'PUT', '/projects/extended/rotate', { publicKey: newKey().publicKeyHex })
  expect((await request('extended', old)).status).toBe(200)
  await runtime(`update project_keys set not_after = '2099-01-01' where not_after is not null`)
  vault.advance(601_000)
  expect(statusAndError(await request('extended', old))).toEqual([401, 'invalid_signature'])
})

test('refuses a key whose scope was widened', async () => {
  const key = await createProject(vault.url, 'widened', { scope: { access: 'read', envs: ['production'] } })
  expect((await request('widened', key)).status).toBe(200)
  const [own] = JSON.parse(await rowsOf('project_keys', 'widened')) as object[]
  await runtime(`delete from project_keys where project_uid = (select uid from projects where name = 'widened')`)
  await insertRows('project_keys', JSON.stringify([{ ...own, access: 'read-write', envs: null }]))
  vault.advance(61_000)
  expect(statusAndError(await request('widened', key))).toEqual([401, 'invalid_signature'])
})

test('refuses all keys of a project whose digest requirement was removed', async () => {
  const key = await createProject(vault.url, 'digest', { requireContentDigest: true })
  const drop = `update projects set require_content_digest = false`
  await expect(runtime(`${drop} where name = 'digest'`)).rejects.toThrow('only grows')
  await runtime(`${drop}, generation = generation + 1 where name = 'digest'`)
  vault.advance(61_000)
  expect((await put('digest', key, 'A', 'value')).status).toBeGreaterThanOrEqual(400)
})

test('fails a fetch after a version was rolled back or a secret removed', async () => {
  const key = await createProject(vault.url, 'rolled')
  await put('rolled', key, 'A', 'old')
  await put('rolled', key, 'A', 'new')
  await put('rolled', key, 'B', 'other')
  const ofA = `key = 'A' and project_uid = (select uid from projects where name = 'rolled')`
  await runtime(`update secrets set version = 1 where ${ofA}`)
  expect(statusAndError(await request('rolled', key))).toEqual([500, 'decryption_failed'])
  expect(statusAndError(await put('rolled', key, 'C', 'not laundered'))).toEqual([500, 'decryption_failed'])
  await runtime(`update secrets set version = 2 where ${ofA}`)
  expect((await request('rolled', key)).body).toEqual({ A: 'new', B: 'other' })
  await runtime(`delete from secrets where ${ofA}`)
  expect(statusAndError(await request('rolled', key))).toEqual([500, 'decryption_failed'])
  expect(await refusedRows('environments')).toBeGreaterThan(0)
})

test('refuses to restore the rows of a deleted project', async () => {
  const key = await createProject(vault.url, 'deleted')
  const own = await rowsOf('projects', 'deleted')
  await admin(vault.url, 'DELETE', '/projects/deleted')
  await expect(insertRows('projects', own)).rejects.toThrow('only grows')
  vault.advance(61_000)
  expect(statusAndError(await request('deleted', key))).toEqual([401, 'unknown_project'])
})

test('refuses to roll back a project in the statement that deletes it', async () => {
  const revoked = await createProject(vault.url, 'living')
  const children = ['project_deks', 'project_keys', 'environments']
  const own = await rowsOf('projects', 'living')
  const copies = await Promise.all(children.map((table) => rowsOf(table, 'living')))
  const key = newKey()
  await admin(vault.url, 'PUT', '/projects/living/rotate', { publicKey: key.publicKeyHex, overlap: 0 })
  await put('living', key, 'A', 'new')
  const putBack = async () => {
    await runtime(
      `with gone as (delete from projects where name = 'living' returning uid)
       insert into projects select old.* from jsonb_populate_recordset(null::projects, $1::jsonb) old, gone`,
      [own],
    )
    for (const [i, table] of children.entries()) await insertRows(table, copies[i] ?? '')
  }
  await expect(putBack()).rejects.toThrow('only grows')
  vault.advance(61_000)
  expect(statusAndError(await request('living', revoked))).toEqual([401, 'invalid_signature'])
  expect((await request('living', key)).body).toEqual({ A: 'new' })
})

test('refuses an insert that waited for the deletion of its project', async () => {
  const key = await createProject(vault.url, 'raced')
  const own = await rowsOf('projects', 'raced')
  const deleting = await connectSql(vault.database.appUrl)
  await deleting('begin')
  await deleting(`delete from projects where name = 'raced'`)
  const inserting = expect(insertRows('projects', own)).rejects.toThrow('only grows')
  await eventually(async () => {
    const waiting = await deleting(
      `select from pg_stat_activity where wait_event_type = 'Lock' and usename = current_user`,
    )
    return waiting.length > 0
  })
  await deleting('commit')
  await deleting.end()
  await inserting
  vault.advance(61_000)
  expect(statusAndError(await request('raced', key))).toEqual([401, 'unknown_project'])
})

test('refuses inserted and restored administrators', async () => {
  const { id, token } = (await admin(vault.url, 'POST', '/administrators', { name: 'anna', role: 'auditor' })).body as {
    id: string
    token: string
  }
  const as = (bearer: string) => send(`${vault.url}/v1/admin/me`, { headers: { Authorization: `Bearer ${bearer}` } })
  expect((await as(token)).status).toBe(200)
  const [row] = await runtime<{ own: object }>(`select to_jsonb(a) as own from administrators a where id = $1`, [id])
  const swap = `with gone as (delete from administrators where id = '${id}' returning *) insert into administrators select * from gone`
  await expect(runtime(swap)).rejects.toThrow('only grows')
  expect((await admin(vault.url, 'DELETE', `/administrators/${id}`)).status).toBe(200)
  await expect(insertRows('administrators', JSON.stringify([row?.own]))).rejects.toThrow('only grows')
  const before = await refusedRows('administrators')
  await insertRows('administrators', JSON.stringify([{ ...row?.own, id: newId(), role: 'administrator' }]))
  expect(statusAndError(await as(token))).toEqual([401, 'unauthorized'])
  expect(await refusedRows('administrators')).toBeGreaterThan(before)
})

test('refuses to restore a deleted data key', async () => {
  await createProject(vault.url, 'renewed')
  const rows = await rowsOf('project_deks', 'renewed')
  await runtime(`delete from project_deks where project_uid = (select uid from projects where name = 'renewed')`)
  await expect(insertRows('project_deks', rows)).rejects.toThrow('only grows')
})

test('the database contains no readable value', async () => {
  const key = await createProject(vault.url, 'unread')
  await put('unread', key, 'NAME', 'canary-of-the-role')
  const tables = await runtime<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
       and has_table_privilege(oid, 'select')`,
  )
  let dump = ''
  for (const { name } of tables)
    dump +=
      (await runtime<{ rows: string }>(`select jsonb_agg(to_jsonb(t))::text as rows from ${name} t`))[0]?.rows ?? ''
  expect(dump).toContain('NAME')
  for (const form of ['utf8', 'hex', 'base64'] as const)
    expect(dump).not.toContain(Buffer.from('canary-of-the-role').toString(form).replace(/=+$/, ''))
})

const remove = async (project: string, name: string): Promise<void> => {
  const listed = (await admin(vault.url, 'GET', `/projects/${project}/secrets`)).body as { id: string; key: string }[]
  expect(
    (await admin(vault.url, 'DELETE', `/secrets/${listed.find(({ key }) => key === name)?.id ?? ''}`)).status,
  ).toBe(200)
}

test('does not decrypt a value of a deleted secret in the row of its successor', async () => {
  const key = await createProject(vault.url, 'again')
  await put('again', key, 'A', 'old')
  const ofA = `secret_id = (select s.id from secrets s join projects p on p.uid = s.project_uid where p.name = 'again' and key = 'A')`
  const [old] = await runtime<{ blob: Buffer }>(`select blob from secret_versions where ${ofA}`)
  await remove('again', 'A')
  await put('again', key, 'A', 'new')
  await runtime(`update secret_versions set blob = $1 where ${ofA}`, [old?.blob])
  expect(statusAndError(await request('again', key))).toEqual([500, 'decryption_failed'])
  const { problems } = JSON.parse((await rows(vault, 'verify')).stdout) as { problems: string[] }
  expect(problems).toContain('project again: version 2 of A in production does not decrypt')
})

/** An entry that the role inserts itself. */
const forge = (id: string, action: string, detail: unknown, env: string | null = null) =>
  runtime(
    `insert into audit (id, project_uid, project_id, action, env, requested_at, ip, detail)
     values ($1, (select uid from projects order by uid limit 1), 'forged', $2, $3, now(), '::1', $4)`,
    [id, action, env, detail === null ? null : JSON.stringify(detail)],
  )

test('reports malformed forged entries and keeps working', async () => {
  await createProject(vault.url, 'watched')
  const claims: [unknown, string | null][] = [
    [{ revision: 'x' }, 'production'],
    [{ revision: 1e300 }, 'production'],
    [{ revision: [1] }, null],
    [{ revision: 3 }, null],
    [{ generation: { a: 1 } }, null],
    [{ generation: 1.5 }, null],
    [{ generation: 9e15 }, null],
  ]
  const ids: string[] = []
  for (const [detail, env] of claims) {
    ids.push(newId())
    await forge(ids.at(-1) ?? '', 'put', detail, env)
  }
  ids.push(newId())
  await forge(ids.at(-1) ?? '', 'put', { generation: 1_000_000 })
  const { problems } = JSON.parse((await rows(vault, 'verify')).stdout) as { problems: string[] }
  for (const id of ids) expect(problems.filter((problem) => problem.includes(id))).toHaveLength(1)

  await forge(newId(), 'refused', { invalid_signature: 'many', since: [], unauthorized: 1e40 })
  for (const path of ['/activity', '/overview', '/audit?action=refused', '/audit?action=put'])
    expect([path, (await admin(vault.url, 'GET', path)).status]).toEqual([path, 200])
  for (const detail of [['revision'], 'revision', 1])
    await expect(forge(newId(), 'put', detail)).rejects.toThrow('audit_can_be_shown')
  for (const time of ['infinity', '-infinity', '200000-01-01'])
    await expect(
      runtime(
        `insert into audit (id, project_id, action, requested_at, ip) values ($1, 'x', 'fetch', $2::timestamptz, '::1')`,
        [newId(), time],
      ),
    ).rejects.toThrow('audit_can_be_shown')
})

test('lists show times that no client can read as the nearest ones', async () => {
  const key = await createProject(vault.url, 'timeless')
  await put('timeless', key, 'A', 'value')
  await admin(vault.url, 'PUT', '/projects/timeless/rotate', { publicKey: newKey().publicKeyHex, overlap: 0 })
  await runtime(`insert into ended_exchanged_keys (project_uid, public_key, name, subject, access, created_at, ended_at, revoked)
    select uid, '', '', '', 'read', now(), now(), true from projects where name = 'timeless'`)
  await runtime(`insert into projects (uid, name, created_at) values (gen_random_uuid(), 'forged', now())`)
  const columns = {
    ...{ project_keys: ['last_used_at', 'revoked_at'], secrets: ['updated_at', 'expires_at'] },
    ...{ ended_exchanged_keys: ['created_at', 'last_used_at', 'ended_at'], projects: ['created_at'] },
  }
  const paths = ['projects', 'projects/timeless/keys?ended=true', 'projects/timeless/secrets', 'expiring', 'overview']
  for (const time of ['infinity', '-infinity', '290000-01-01', '4713-01-01 BC']) {
    for (const [table, changed] of Object.entries(columns))
      await vault.sql(`alter table ${table} disable trigger user;
        update ${table} set ${changed.map((column) => `${column} = '${time}'`).join(', ')};
        alter table ${table} enable trigger user`)
    for (const path of paths) expect([path, (await admin(vault.url, 'GET', `/${path}`)).status]).toEqual([path, 200])
  }
  for (const name of ['forged', 'timeless']) await admin(vault.url, 'DELETE', `/projects/${name}`)
})

test('pages entries with future ids like any others', async () => {
  const key = await createProject(vault.url, 'paged')
  for (let i = 0; i < 5; i++) await forge(`ffffffff-ffff-7fff-bfff-00000000000${String(i)}`, 'fetch', null)
  for (let i = 0; i < 3; i++) await request('paged', key)
  type Page = { id: string; projectId: string }[]
  const page = async (query: string) => (await admin(vault.url, 'GET', `/audit?${query}`)).body as Page
  expect((await page('limit=3')).map(({ projectId }) => projectId)).toEqual(['paged', 'paged', 'paged'])
  const paged: Page = []
  for (let next = await page('limit=2'); next.length > 0; next = await page(`limit=2&before=${paged.at(-1)?.id ?? ''}`))
    paged.push(...next)
  expect(paged).toEqual(await page('limit=1000'))
})

test('continues sealing after a forged seal, and reports it', async () => {
  const own = await vault.replica()
  const watched = async () => JSON.parse((await audit(vault, 'verify')).stdout) as { intact: boolean; problem?: string }
  const forgeSeal = `insert into audit_seals (seal_no, key_no, seqs, codes, position, gaps, sealed_at, mac)
    select seal_no + 1, key_no, seqs, codes, (select max(seq) from audit), '"x"', now(), mac
    from audit_seals order by seal_no desc limit 1`
  try {
    await vault.seal()
    expect(await watched()).toMatchObject({ intact: true })
    for (const wrong of ['seal_no + 1, key_no, seqs, codes, 9e18', 'seal_no + 2, key_no, seqs, codes, position'])
      await expect(
        runtime(`insert into audit_seals (seal_no, key_no, seqs, codes, position, gaps, sealed_at)
          select ${wrong}, gaps, now() from audit_seals order by seal_no desc limit 1`),
      ).rejects.toThrow('a seal follows the last one')
    for (let i = 0; i < 3; i++) await runtime(forgeSeal)
    own.context.background.start()
    const key = await createProject(vault.url, 'sealed')
    await request('sealed', key)
    await eventually(async () => {
      const { seal } = (await admin(own.url, 'GET', '/overview')).body as { seal: { unsealed: number } }
      return seal.unsealed === 0
    })
    const metrics = await (await fetch(`${own.url}/metrics`)).text()
    expect(metrics).toMatch(/^vault_refused_rows_total\{table="audit_seals"\} 3$/m)
    const { problem } = await watched()
    expect(problem).toContain('seal 2')
  } finally {
    await own.context.background.stop()
    await own.stop()
  }
})

test.each([
  ['delete from secret_versions'],
  ['delete from environments'],
  ['delete from audit_keys'],
  ['update project_keys set public_key = public_key'],
  ['update projects set name = name'],
  ['update secrets set key = key'],
  ['delete from high_water_marks'],
  ['update high_water_marks set number = 0'],
  ["insert into high_water_marks values (gen_random_uuid(), 'project', 1)"],
  ['update removed_secrets set version = 0'],
  ["insert into removed_secrets select uid, 'production', 'A', 1 from projects"],
  ['truncate projects, audit cascade'],
  ["update audit set action = 'rotate'"],
  ['delete from audit'],
  [
    "insert into audit (id, seq, project_id, action, requested_at, ip) values (gen_random_uuid(), 9e14, 'x', 'fetch', now(), '::1')",
  ],
  ["select setval('audit_seq', 900000000000000)"],
  ['delete from audit_seals'],
  ['update audit_seals set sealed_at = now()'],
  ["insert into audit_prunings (month, pruned_at) values ('2020-01-01', now())"],
  ['create table mine (id integer)'],
  ['alter table projects disable trigger all'],
  ['set session_replication_role = replica'],
  ['select raise_mark()'],
])('denies the run-time role %s', async (statement) => {
  await expect(runtime(statement)).rejects.toThrow(/^(permission denied|must be owner)/)
})
