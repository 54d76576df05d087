import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { admin, createProject, type Key, newKey, send, signedSend, statusAndError } from './support/client.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'
import { connectSql, type Sql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'

const DAY_MS = 86_400_000

let vault: TestVault
let replica: TestVault
/** A connection with the rights of the service. */
let runtime: Sql
let receivers: Receiver[] = []

beforeAll(async () => {
  vault = await startVault({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  replica = await vault.replica()
  runtime = await connectSql(vault.database.appUrl)
})
afterEach(async () => {
  for (const each of receivers) await each.close()
  receivers = []
  await runtime('delete from webhooks')
})
afterAll(async () => {
  await runtime.end()
  await replica.stop()
  await vault.stop()
})

type Place = { readonly project: string; readonly key: Key; readonly hooks: string }
type Listed = { id: string; state: string; attempts: number; httpStatus: number | null; problem: string | null }

async function newReceiver(): Promise<Receiver> {
  const receiver = await startReceiver(vault)
  receivers.push(receiver)
  return receiver
}

async function newPlace(project: string): Promise<Place> {
  return { project, key: await createProject(vault.url, project), hooks: `/projects/${project}/webhooks` }
}

async function addWebhook({ hooks }: Place, { url }: Receiver): Promise<string> {
  const { status, body } = await admin(vault.url, 'POST', hooks, { url })
  expect(status).toBe(201)
  return (body as { id: string }).id
}

async function put({ project, key }: Place, name: string, value = 'the-value', env = 'production', at = vault) {
  const body = { key: name, value, env }
  return (await signedSend({ project, key, method: 'PUT', url: `${at.url}/v1/secrets`, body })).status
}

async function secretId({ project }: Place, name: string): Promise<string> {
  const { body } = await admin(vault.url, 'GET', `/projects/${project}/secrets`)
  return (body as { id: string; key: string }[]).find(({ key }) => key === name)?.id ?? ''
}

/** Attempts all deliveries that are due, and waits for the results. */
async function deliver(at = vault): Promise<void> {
  const { webhookDeliveries } = at.context.useCases
  while ((await webhookDeliveries.startDue()) > 0) await webhookDeliveries.settled()
}

async function deliveriesOf({ hooks }: Place, id: string): Promise<Listed[]> {
  const { status, body } = await admin(vault.url, 'GET', `${hooks}/${id}/deliveries`)
  expect(status).toBe(200)
  return body as Listed[]
}

test('delivers each change with names and versions, signed, and without values', async () => {
  const place = await newPlace('shop')
  const receiver = await newReceiver()
  await addWebhook(place, receiver)
  await put(place, 'A')
  await put(place, 'A', 'another-value')
  const id = await secretId(place, 'A')
  await admin(vault.url, 'POST', `/secrets/${id}/versions/1/restore`)
  await admin(replica.url, 'DELETE', `/secrets/${id}`)
  await deliver()
  expect(receiver.refused).toEqual([])
  const common = { project: 'shop', env: 'production', id: expect.any(String), at: expect.any(String) }
  const byKey = { ...common, actor: expect.stringMatching(/^key:/) }
  const byAdmin = { ...common, actor: 'administrator' }
  expect(receiver.events.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
    { ...byKey, event: 'secret.put', secrets: [{ key: 'A', version: 1 }] },
    { ...byKey, event: 'secret.put', secrets: [{ key: 'A', version: 2 }] },
    { ...byAdmin, event: 'secret.restored', secrets: [{ key: 'A', version: 3 }] },
    { ...byAdmin, event: 'secret.deleted', secrets: [{ key: 'A' }] },
  ])
  expect(JSON.stringify(receiver.events)).not.toMatch(/the-value|another-value/)
  await deliver(replica)
  expect(receiver.events).toHaveLength(4)
})

test('a process that outlived its lease does not overwrite the result of the one that took over', async () => {
  const place = await newPlace('leases')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  receiver.answer = () => 'hang'
  await put(place, 'A')
  const late = vault.context.useCases.webhookDeliveries
  expect(await late.startDue()).toBe(1)
  await eventually(() => Promise.resolve(receiver.events.length === 1))
  receiver.answer = () => 204
  await runtime(`update webhook_deliveries set leased_until = now() - interval '1 second'`)
  await deliver(replica)
  expect(receiver.events).toHaveLength(2)
  await receiver.close()
  await late.settled()
  expect(await deliveriesOf(place, id)).toMatchObject([{ state: 'delivered', attempts: 2, httpStatus: 204 }])
})

test('reports changes of keys, and of several secrets at once', async () => {
  const place = await newPlace('keys')
  const receiver = await newReceiver()
  await put(place, 'A')
  await put(place, 'B')
  await addWebhook(place, receiver)
  await admin(vault.url, 'POST', '/projects/keys/secrets/copy', { from: 'production', to: 'staging' })
  const { publicKeyHex } = newKey()
  const added = await admin(vault.url, 'POST', '/projects/keys/keys', { name: 'ci', publicKey: publicKeyHex })
  const { fingerprint } = added.body as { fingerprint: string }
  await admin(vault.url, 'PUT', '/projects/keys/rotate')
  await admin(vault.url, 'DELETE', `/projects/keys/keys/${fingerprint}`)
  await admin(vault.url, 'PATCH', '/projects/keys', { requireContentDigest: true })
  await deliver()
  const events = receiver.events.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  expect(events.map(({ event }) => event)).toEqual(['secret.put', 'key.added', 'key.rotated', 'key.revoked'])
  expect(events[0]?.env).toBe('staging')
  expect(events[0]?.secrets?.map(({ key }) => key).toSorted()).toEqual(['A', 'B'])
  expect(events[1]?.key).toEqual({ name: 'ci', fingerprint })
  expect(events[3]?.key).toEqual({ name: 'ci', fingerprint })
})

test('sends nothing for a change that was rolled back', async () => {
  const place = await newPlace('rolled-back')
  const receiver = await newReceiver()
  await addWebhook(place, receiver)
  await vault.sql(`create function refuse_put() returns trigger language plpgsql as
    $$ begin if new.action = 'put' and new.project_id = 'rolled-back' then raise exception 'no'; end if; return new; end $$`)
  await vault.sql('create trigger refuse_put before insert on audit for each row execute function refuse_put()')
  expect(await put(place, 'A')).toBe(500)
  await vault.sql('drop function refuse_put cascade')
  await deliver()
  expect(receiver.events).toEqual([])
  expect(await put(place, 'A')).toBe(200)
  await deliver()
  expect(receiver.events).toHaveLength(1)
})

test('replicas share deliveries, and send each once', async () => {
  const place = await newPlace('shared')
  const receiver = await newReceiver()
  await addWebhook(place, receiver)
  for (let n = 0; n < 30; n++) await put(place, `KEY_${String(n)}`)
  await Promise.all([deliver(vault), deliver(replica), deliver(vault), deliver(replica)])
  expect(receiver.events.map(({ secrets }) => secrets?.[0]?.key).toSorted()).toEqual(
    Array.from({ length: 30 }, (_, n) => `KEY_${String(n)}`).toSorted(),
  )
})

test('retries with the same id while a receiver is down, and then sends everything it missed', async () => {
  const place = await newPlace('down')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  receiver.answer = () => 500
  await put(place, 'A')
  await deliver()
  await put(place, 'B')
  await deliver()
  expect(receiver.events).toHaveLength(1)
  const [listed] = (await admin(vault.url, 'GET', place.hooks)).body as { failures: number; retryAt: string }[]
  expect(listed).toMatchObject({ failures: 1, retryAt: expect.any(String) })
  // One attempt probes a receiver that is down, whatever waits for it.
  await vault.age(6_000)
  await deliver()
  expect(receiver.events).toHaveLength(2)
  receiver.answer = () => 204
  await vault.age(40_000)
  await deliver()
  const sent = receiver.events.map((event) => event.secrets?.[0]?.key)
  expect(new Set(sent)).toEqual(new Set(['A', 'B']))
  const ids = receiver.events.filter(({ secrets }) => secrets?.[0]?.key === 'A').map((event) => event.id)
  expect(ids.length).toBeGreaterThan(1)
  expect(new Set(ids).size).toBe(1)
  expect((await deliveriesOf(place, id)).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
  expect((await admin(vault.url, 'GET', place.hooks)).body).toMatchObject([{ failures: 0, retryAt: null }])
  expect(receiver.refused).toEqual([])
})

test('gives up after a day, and drops the log after a week', async () => {
  const place = await newPlace('given-up')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  receiver.answer = () => 503
  await put(place, 'A')
  for (let hours = 0; hours < 26; hours += 2) {
    await deliver()
    await vault.age(DAY_MS / 12)
  }
  await vault.context.useCases.webhookDeliveries.expire()
  const [listed] = await deliveriesOf(place, id)
  expect(listed).toMatchObject({ state: 'given_up', httpStatus: 503 })
  expect(listed?.attempts).toBeGreaterThan(5)
  const count = receiver.events.length
  await vault.age(DAY_MS)
  await deliver()
  expect(receiver.events).toHaveLength(count)
  expect(await deliveriesOf(place, id)).toHaveLength(1)
  // The log is deleted by the times in its ids.
  await vault.sql("update webhook_deliveries set id = '0195f2a0-0000-7000-8000-000000000000'")
  await vault.context.useCases.webhookDeliveries.expire()
  expect(await deliveriesOf(place, id)).toEqual([])
})

test('a replica whose clock is ahead gives up, repeats and deletes nothing', async () => {
  const place = await newPlace('ahead')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  await put(place, 'A')
  await deliver()
  receiver.answer = () => 503
  await put(place, 'B')
  await deliver()
  const before = await deliveriesOf(place, id)
  expect(before.map(({ state }) => state)).toEqual(['waiting', 'delivered'])
  const fast = await vault.replica()
  fast.advance(30 * DAY_MS)
  await fast.context.useCases.webhookDeliveries.expire()
  await deliver(fast)
  expect(await deliveriesOf(place, id)).toEqual(before)
  // Nor does it date events so that others give them up.
  receiver.answer = () => 204
  await vault.age(40_000)
  await put(place, 'C', 'v', 'production', fast)
  await deliver()
  expect((await deliveriesOf(place, id)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
  await fast.stop()
})

test('an event that its receiver refuses does not hold up the others', async () => {
  const place = await newPlace('refused')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  receiver.answer = ({ secrets }) => (secrets?.[0]?.key === 'BAD' ? 422 : 204)
  await put(place, 'BAD')
  await put(place, 'GOOD')
  await deliver()
  expect(await deliveriesOf(place, id)).toMatchObject([
    { state: 'delivered', attempts: 1 },
    { state: 'waiting', httpStatus: 422, attempts: 1 },
  ])
})

test('receivers that do not respond never delay others', async () => {
  const slow = await newPlace('slow')
  const hanging = await newReceiver()
  hanging.answer = () => 'hang'
  for (let n = 0; n < 10; n++) await addWebhook(slow, hanging)
  for (let n = 0; n < 5; n++) await put(slow, `KEY_${String(n)}`)
  const { webhookDeliveries } = vault.context.useCases
  await webhookDeliveries.startDue()
  await eventually(() => Promise.resolve(hanging.events.length >= 40))
  const quick = await newPlace('quick')
  const receiver = await newReceiver()
  await addWebhook(quick, receiver)
  await put(quick, 'A')
  await webhookDeliveries.startDue()
  await eventually(() => Promise.resolve(receiver.events.length === 1))
  // None of the others has ended yet.
  expect(hanging.events).toHaveLength(40)
  await hanging.close()
  await webhookDeliveries.settled()
})

test('a stopping vault leaves undelivered events to other replicas', async () => {
  const place = await newPlace('stopped-vault')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  receiver.answer = () => 'hang'
  await put(place, 'A')
  const stopping = await vault.replica()
  await stopping.context.useCases.webhookDeliveries.startDue()
  await eventually(() => Promise.resolve(receiver.events.length === 1))
  await stopping.context.useCases.webhookDeliveries.stop()
  await stopping.stop()
  expect(await deliveriesOf(place, id)).toMatchObject([{ state: 'waiting', attempts: 0 }])
  receiver.answer = () => 204
  await deliver()
  expect(await deliveriesOf(place, id)).toMatchObject([{ state: 'delivered', attempts: 1 }])
})

test('shows no query, in lists, in the audit log and in the log', async () => {
  const place = await newPlace('quiet')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  await admin(vault.url, 'PATCH', `${place.hooks}/${id}`, { url: receiver.url, enabled: true })
  await admin(vault.url, 'POST', `${place.hooks}/${id}/test`)
  await receiver.close()
  await deliver()
  const { body } = await admin(vault.url, 'GET', place.hooks)
  const shown = receiver.url.replace(/\?.*/, '')
  expect(body).toMatchObject([{ id, url: shown, hasQuery: true, enabled: true }])
  expect((await deliveriesOf(place, id))[0]?.problem).toBe('no response (ECONNREFUSED)')
  await admin(vault.url, 'DELETE', `${place.hooks}/${id}`)
  const audit = await vault.sql(
    `select action, detail from audit where project_id = 'quiet' and action like 'webhook%' order by seq`,
  )
  expect(audit).toEqual([
    { action: 'webhook.create', detail: { webhook: id, url: shown } },
    { action: 'webhook.update', detail: { webhook: id, url: shown, enabled: true } },
    { action: 'webhook.test', detail: { webhook: id, url: shown } },
    { action: 'webhook.delete', detail: { webhook: id, url: shown } },
  ])
  expect(vault.logged()).not.toContain('of-the-receiver')
})

test('a stopped webhook receives only tests', async () => {
  const place = await newPlace('disabled')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  await admin(vault.url, 'PATCH', `${place.hooks}/${id}`, { enabled: false })
  await put(place, 'A')
  const { body } = await admin(vault.url, 'POST', `${place.hooks}/${id}/test`)
  await deliver()
  expect(receiver.events).toMatchObject([
    { id: (body as { id: string }).id, event: 'webhook.test', project: 'disabled' },
  ])
  await admin(vault.url, 'PATCH', `${place.hooks}/${id}`, { enabled: true })
  await put(place, 'B')
  await deliver()
  expect(receiver.events).toHaveLength(2)
})

test('a removed webhook receives no more events, not even waiting ones', async () => {
  const place = await newPlace('removed')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  await put(place, 'A')
  expect((await admin(vault.url, 'DELETE', `${place.hooks}/${id}`)).status).toBe(200)
  await deliver()
  expect(receiver.events).toEqual([])
  expect(statusAndError(await admin(vault.url, 'GET', `${place.hooks}/${id}/deliveries`))).toEqual([404, 'not_found'])
})

test('a project has at most ten webhooks', async () => {
  const place = await newPlace('many')
  const receiver = await newReceiver()
  const added = await Promise.all(
    Array.from({ length: 12 }, () => admin(vault.url, 'POST', place.hooks, { url: receiver.url })),
  )
  expect(added.filter(({ status }) => status === 201)).toHaveLength(10)
  for (const refused of added.filter(({ status }) => status !== 201))
    expect(statusAndError(refused)).toEqual([409, 'too_many_webhooks'])
})

test('keeps the newest 1,000 deliveries', async () => {
  const place = await newPlace('bounded')
  const id = await addWebhook(place, await newReceiver())
  await vault.sql(
    `insert into webhook_deliveries (id, webhook_id, event, payload, created_at, next_at, code)
     select ('018f0000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'secret.put', '{}', now(), null, ''
     from generate_series(1, 1005) as n`,
    [id],
  )
  await put(place, 'A')
  const [row] = await vault.sql<{ count: number; oldest: string }>(
    'select count(*)::integer as count, min(id::text) as oldest from webhook_deliveries where webhook_id = $1',
    [id],
  )
  expect(row).toEqual({ count: 1_000, oldest: '018f0000-0000-7000-8000-000000000007' })
})

test.each([
  ...['', 'receiver.example', 'ftp://receiver.example', 'https://', 'https://user@receiver.example'],
  ...['https://user:password@receiver.example', 'https://receiver.example//path', 'https://receiver.example/?'],
  `https://receiver.example/${'x'.repeat(2_000)}`,
])('refuses the URL %#', async (url) => {
  const place = { hooks: '/projects/urls/webhooks' }
  await admin(vault.url, 'POST', '/projects', { name: 'urls', publicKey: newKey().publicKeyHex })
  expect(statusAndError(await admin(vault.url, 'POST', place.hooks, { url }))).toEqual([400, 'invalid_request'])
})

test('refuses private addresses and plain HTTP by default', async () => {
  const strict = await vault.replica({ WEBHOOK_ALLOW_PRIVATE: 'false' })
  const place = await newPlace('strict')
  const urls = ['http://receiver.example/', 'https://127.0.0.1/', 'https://[::ffff:10.0.0.1]/', 'https://localhost/']
  for (const url of [...urls, 'https://2130706433/', 'https://169.254.169.254/latest/meta-data'])
    expect(statusAndError(await admin(strict.url, 'POST', place.hooks, { url }))).toEqual([400, 'invalid_request'])
  expect((await admin(strict.url, 'POST', place.hooks, { url: 'https://receiver.example/' })).status).toBe(201)
  // A URL that was accepted while private addresses were allowed.
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  await put(place, 'A')
  await deliver(strict)
  expect(receiver.events).toEqual([])
  expect(await deliveriesOf(place, id)).toMatchObject([{ state: 'waiting', problem: 'refused address' }])
  await strict.stop()
})

test('only administrators manage webhooks, and auditors read them', async () => {
  const place = await newPlace('roles')
  const receiver = await newReceiver()
  const id = await addWebhook(place, receiver)
  const as = async (role: string) => {
    const { body } = await admin(vault.url, 'POST', '/administrators', { name: role, role, projects: ['roles'] })
    const headers = { Authorization: `Bearer ${(body as { token: string }).token}`, 'Content-Type': 'application/json' }
    return async (method: string, path: string, content?: object) =>
      (
        await send(`${vault.url}/v1/admin${path}`, {
          method,
          headers,
          ...(content && { body: JSON.stringify(content) }),
        })
      ).status
  }
  for (const role of ['editor', 'auditor']) {
    const request = await as(role)
    expect(await request('GET', place.hooks)).toBe(200)
    expect(await request('GET', `${place.hooks}/${id}/deliveries`)).toBe(200)
    expect(await request('POST', place.hooks, { url: receiver.url })).toBe(403)
    expect(await request('PATCH', `${place.hooks}/${id}`, { enabled: false })).toBe(403)
    expect(await request('POST', `${place.hooks}/${id}/test`)).toBe(403)
    expect(await request('DELETE', `${place.hooks}/${id}`)).toBe(403)
  }
  const administrator = await as('administrator')
  expect(await administrator('POST', `${place.hooks}/${id}/test`)).toBe(200)
  expect(await administrator('GET', '/projects/shop/webhooks')).toBe(403)
  const other = await newPlace('other-project')
  for (const [method, path] of [
    ['GET', '/deliveries'],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/test'],
  ] as const)
    expect(
      (await admin(vault.url, method, `${other.hooks}/${id}${path}`, method === 'PATCH' ? {} : undefined)).status,
    ).toBe(404)
  expect((await admin(vault.url, 'DELETE', `${place.hooks}/${newId()}`)).status).toBe(404)
  expect((await admin(vault.url, 'DELETE', `${place.hooks}/not-an-id`)).status).toBe(404)
})

test('anyone may read the public key, which all replicas share', async () => {
  const keys = await Promise.all([vault, replica].map(async ({ url }) => (await send(`${url}/v1/webhooks/key`)).body))
  expect(keys[0]).toEqual({ publicKey: expect.stringMatching(/^[0-9a-f]{64}$/), signer: 'vault' })
  expect(keys[1]).toEqual(keys[0])
  expect((await send(`${vault.url}/v1/webhooks/key`, { method: 'POST' })).status).toBe(405)
})

test('sends no event that was written directly to the database', async () => {
  const place = await newPlace('tampered')
  const [receiver, foreign] = [await newReceiver(), await newReceiver()]
  const id = await addWebhook(place, receiver)
  await put(place, 'A')
  await runtime('update webhooks set url = $1, revision = revision + 1 where id = $2', [foreign.url, id])
  await deliver()
  expect([...foreign.events, ...receiver.events]).toEqual([])
  expect((await admin(vault.url, 'GET', place.hooks)).body).toEqual([])
  expect(statusAndError(await admin(vault.url, 'PATCH', `${place.hooks}/${id}`, { enabled: true }))).toEqual([
    500,
    'decryption_failed',
  ])
  // An older row of its own.
  const own = await addWebhook(place, receiver)
  const [old] = await vault.sql<{ row: object }>('select to_jsonb(w) as row from webhooks w where id = $1', [own])
  await admin(vault.url, 'PATCH', `${place.hooks}/${own}`, { url: foreign.url })
  await expect(runtime('update webhooks set url = $1 where id = $2', [receiver.url, own])).rejects.toThrow('only grows')
  await admin(vault.url, 'DELETE', `${place.hooks}/${own}`)
  await expect(
    runtime('insert into webhooks select * from jsonb_populate_record(null::webhooks, $1::jsonb)', [
      JSON.stringify(old?.row),
    ]),
  ).rejects.toThrow('only grows')
  // A forged event for an authentic webhook.
  const next = await addWebhook(place, receiver)
  await runtime(
    `insert into webhook_deliveries (id, webhook_id, event, payload, created_at, next_at, code)
     values ($1, $2, 'secret.put', '{"forged":true}', now(), '2020-01-01', '')`,
    [newId(), next],
  )
  await deliver()
  expect(receiver.events).toEqual([])
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  expect(metrics).toMatch(/^vault_refused_rows_total\{table="webhooks"\} [1-9]/m)
  expect(metrics).toMatch(/^vault_refused_rows_total\{table="webhook_deliveries"\} [1-9]/m)
})
