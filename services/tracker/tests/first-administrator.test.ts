import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { invalidationChannel } from '../src/invalidation/invalidation.ts'
import { PASSWORD, startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let replica: TestTracker

beforeAll(async () => {
  tracker = await startTracker()
  replica = await tracker.replica()
})
afterAll(async () => {
  await replica.stop()
  await tracker.stop()
})

/** A site without users, as a superuser could restore it. */
beforeEach(async () => {
  await tracker.sql(`delete from admin_log; delete from users; delete from setup_codes;
    update site_settings set had_administrator = false`)
  const { redisClient } = tracker
  await redisClient.publish(invalidationChannel(redisClient.options.db ?? 0), '{"kind":"site-settings"}')
  for (const each of [tracker, replica]) await eventually(() => awaitsSetup(each))
})

async function issueCode(at = tracker): Promise<string> {
  const code = await at.context.useCases.firstAdministrator.issueCode()
  if (code === undefined) throw new Error('the site had an administrator')
  return code
}

const person = (username: string) => ({ username, email: `${username}@example.org`, password: PASSWORD })

const setUp = (code: string, username = 'first', at = tracker, client = at.client()) =>
  client.post('/api/setup', { code, ...person(username) })

async function awaitsSetup(at: TestTracker): Promise<boolean> {
  const { awaitsSetup: awaits } = (await at.client().get('/api/site')).json as { awaitsSetup: boolean }
  return awaits
}

/** What a client may learn from a refusal. */
async function refusalOf(code: string) {
  const { status, json } = await setUp(code)
  return { status, json }
}

const WRONG = { status: 403, json: { error: { code: 'FORBIDDEN', message: expect.stringMatching(/^code: /) } } }
const CLOSED = { status: 409, json: { error: { code: 'CONFLICT', message: expect.not.stringMatching(/^\w+: /) } } }

test('a code from any replica creates and signs in the first administrator, only once', async () => {
  const [old, code] = [await issueCode(), await issueCode(replica)]
  expect(code).toMatch(/^[a-z2-9]{26}$/)
  expect(await awaitsSetup(tracker)).toBe(true)
  expect(await refusalOf('')).toEqual(WRONG)
  expect(await refusalOf(`${code}x`)).toEqual(WRONG)

  const client = tracker.client()
  const typed = ` "${code.slice(0, 9)}-${code.slice(9).toUpperCase()}",\n`
  const created = await setUp(typed, 'first', tracker, client)
  expect(created).toMatchObject({ status: 201, json: { username: 'first', role: 'admin', state: 'active' } })
  expect((await client.get('/api/admin/checklist')).json).toMatchObject({ categories: false, dismissed: false })
  expect((await client.get('/api/admin/log')).json).toMatchObject({
    items: [{ actor: { username: 'first' }, action: 'site.set-up', target: { type: 'user', name: 'first' } }],
    total: 1,
  })
  await eventually(async () => !(await awaitsSetup(tracker)) && !(await awaitsSetup(replica)))

  for (const each of [code, old, 'a wrong code']) expect(await refusalOf(each)).toEqual(CLOSED)
  expect(await tracker.context.useCases.firstAdministrator.issueCode()).toBeUndefined()
  expect(await tracker.sql('select from setup_codes')).toEqual([])
})

test('only the hash of a code is stored', async () => {
  const code = await issueCode()
  const [stored] = await tracker.sql<{ row: string; hash: Buffer }>(
    'select code_hash as hash, setup_codes::text as row from setup_codes',
  )
  expect(stored?.hash).toHaveLength(32)
  expect(stored?.row).not.toContain(code)
  expect(stored?.row).not.toContain(Buffer.from(code).toString('hex'))
})

test('of many setups at once, on two replicas and with different codes, one succeeds', async () => {
  const codes = await Promise.all(Array.from({ length: 10 }, (_, i) => issueCode(i % 2 === 0 ? tracker : replica)))
  const answers = await Promise.all(
    codes.map((code, i) => setUp(code, `racer-${String(i)}`, i % 3 === 0 ? tracker : replica)),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
  expect(await tracker.sql(`select count(*)::int as n from users`)).toEqual([{ n: 1 }])
})

test('a refused name or address leaves the code usable, and only people with a code see the reason', async () => {
  await tracker.signedIn('Alice')
  const code = await issueCode()
  const taken = { status: 409, json: { error: { code: 'CONFLICT', message: expect.stringMatching(/^username: /) } } }
  expect(await setUp(code, 'alice')).toMatchObject(taken)
  expect(await setUp('a wrong code', 'alice')).toMatchObject(WRONG)
  expect((await setUp(code, 'bob')).status).toBe(201)
})

test('a code expires after 24 hours, and looks like a wrong one then', async () => {
  const code = await issueCode()
  const age = (time: string) => tracker.sql(`update setup_codes set created_at = now() - interval '${time}'`)
  await age('24 hours 1 second')
  expect(await refusalOf(code)).toEqual(await refusalOf('a wrong code'))
  await age('23 hours 59 minutes')
  expect((await setUp(code)).status).toBe(201)
})

test('a bounded number of codes is stored, and the newest work', async () => {
  await tracker.sql(`insert into setup_codes
    select sha256(n::text::bytea), now() - n * interval '1 minute' from generate_series(1, 3000) as n`)
  const code = await issueCode()
  expect(await tracker.sql('select count(*)::int as n from setup_codes')).toEqual([{ n: 100 }])
  expect((await setUp(code)).status).toBe(201)
})

test('a site that lost its administrators is not set up again', async () => {
  const code = await issueCode()
  const { id } = await tracker.context.useCases.accounts.create({ ...person('promoted'), role: 'member' })
  await tracker.context.useCases.accounts.change(id, { role: 'admin' })
  expect(await refusalOf(code)).toEqual(CLOSED)
  await tracker.sql('delete from users')
  expect(await refusalOf(code)).toEqual(CLOSED)
  const restarted = await tracker.replica()
  expect(await restarted.context.useCases.firstAdministrator.issueCode()).toBeUndefined()
  expect(await awaitsSetup(restarted)).toBe(false)
  await restarted.stop()
})
