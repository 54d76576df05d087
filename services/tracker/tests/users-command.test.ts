import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { captureCommand, eventually } from '@vault-and-tracker/dev-env'
import { runCommand } from '@vault-and-tracker/service-kit/lifecycle/command'
import { usersCommand } from '../src/commands/users.command.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker()
})

afterAll(() => tracker.stop())

async function run(args: readonly string[], options: { stdin?: string; env?: Record<string, string> } = {}) {
  const { database, redisUrl } = tracker
  const { status, stdout, stderr } = await captureCommand((terminal) => runCommand(usersCommand, terminal), {
    args,
    env: options.env ?? { DATABASE_URL: database.appUrl, REDIS_URL: redisUrl },
    stdin: options.stdin ?? '',
  })
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  return { status, lines: lines.map((line) => JSON.parse(line) as unknown), out: stdout, err: stderr }
}

const create = (username: string, ...more: string[]) =>
  run(['create', '--username', username, '--email', `${username}@example.org`, '--password-stdin', ...more], {
    stdin: 'a long password\n',
  })

test('creates a user who can sign in, prints the passkey once as one line of JSON, and ends the setup', async () => {
  expect((await tracker.client().get('/api/site')).json).toMatchObject({ awaitsSetup: true })
  const made = await create('first-admin', '--role', 'admin')
  expect(made).toMatchObject({ status: 0, err: '' })
  expect(made.lines).toEqual([
    {
      id: expect.any(String),
      username: 'first-admin',
      role: 'admin',
      passkey: expect.stringMatching(/^[0-9a-f]{40}$/),
    },
  ])
  const client = tracker.client()
  const login = await client.post('/api/auth/login', { username: 'first-admin', password: 'a long password' })
  expect(login.status).toBe(200)
  expect(made.lines[0]).toHaveProperty('passkey', login.member('passkey'))
  await eventually(async () => (await client.get('/api/site')).text.includes('"awaitsSetup":false'))
})

test('a taken name exits with 2', async () => {
  await create('taken')
  await expect(create('TAKEN')).resolves.toMatchObject({
    status: 2,
    out: '',
    err: 'username: this username is taken.\n',
  })
})

test('sets role and state with immediate effect on open sessions', async () => {
  const client = await tracker.signedIn('promoted')
  await expect(run(['set-role', '--username', 'promoted', '--role', 'moderator'])).resolves.toMatchObject({ status: 0 })
  expect((await client.get('/api/user/me')).json).toMatchObject({ role: 'moderator' })
  const suspended = await run(['set-state', '--username', 'promoted', '--state', 'suspended'])
  expect(suspended.lines).toEqual([expect.objectContaining({ username: 'promoted', state: 'suspended' })])
  expect((await client.get('/api/user/me')).status).toBe(403)
})

test('resets passkey and password', async () => {
  const client = await tracker.signedIn('renewed')
  const before = (await client.get('/api/user/me')).member('passkey')
  const reset = await run(['reset-passkey', '--username', 'renewed'])
  expect(reset.lines[0]).not.toHaveProperty('passkey', before)
  expect((await client.get('/api/user/me')).json).toMatchObject({ passkey: expect.stringMatching(/^[0-9a-f]{40}$/) })
  await expect(
    run(['reset-password', '--username', 'renewed', '--password-stdin'], { stdin: 'another password' }),
  ).resolves.toMatchObject({ status: 0 })
  expect((await client.get('/api/user/me')).status).toBe(401)
  const login = await client.post('/api/auth/login', { username: 'renewed', password: 'another password' })
  expect(login.status).toBe(200)
})

test('lists users, without their passkeys', async () => {
  await create('listed-one')
  await create('listed-two')
  const { lines, out } = await run(['list', '--search', 'LISTED-'])
  expect(lines).toEqual([
    expect.objectContaining({ username: 'listed-two', email: 'listed-two@example.org', state: 'active' }),
    expect.objectContaining({ username: 'listed-one' }),
  ])
  expect(out).not.toMatch(/[0-9a-f]{40}/)
})

test('lists all users, even beyond the exact totals', async () => {
  const many = 5_101
  await tracker.sql(
    `insert into users (id, username, email, password_hash, passkey, created_at)
     select gen_random_uuid(), 'many-' || n, 'many-' || n || '@example.org', 'none', lpad(to_hex(n), 40, '0'), now()
     from generate_series(1, $1::int) as n`,
    [many],
  )
  const { lines } = await run(['list', '--search', 'many-'])
  expect(lines).toHaveLength(many)
  await tracker.sql(`delete from users where username like 'many-%'`)
})

test.each([
  [[], 'Usage: users'],
  [['dance'], 'dance'],
  [['create', '--username', 'x', '--email', 'x@y', '--password-stdin'], '--username must be'],
  [['create', '--username', 'someone', '--email', 'nowhere', '--password-stdin'], '--email must be'],
  [['create', '--username', 'someone', '--email', 'a@b'], '--password-stdin'],
  [['create', '--username', 'someone', '--email', 'a@b', '--password-stdin'], 'the password must be'],
  [['set-role', '--username', 'nobody-here', '--role', 'member'], 'There is no such user.'],
  [['set-role', '--username', 'nobody-here', '--role', 'king'], '--role must be one of'],
  [['list', '--frobnicate'], '--frobnicate'],
])('%j exits with 2', async (args, message) => {
  const result = await run(args, { stdin: 'short' })
  expect(result).toMatchObject({ status: 2, out: '' })
  expect(result.err).toContain(message)
})

test('reports all missing configuration', async () => {
  const result = await run(['list'], { env: {} })
  expect(result.status).toBe(1)
  expect(result.err).toContain('DATABASE_URL')
  expect(result.err).toContain('REDIS_URL')
})
