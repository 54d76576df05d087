import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type CommandOutcome, captureCommand, type TestDatabase } from '@vault-and-tracker/dev-env'
import { runCommand } from '@vault-and-tracker/service-kit/lifecycle/command'
import { auditCommand } from '../src/commands/audit.command.ts'
import { createProject } from './support/client.ts'
import { createVaultDatabase, startVault, vaultEnv } from './support/vault.ts'

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
