import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { captureCommand } from '@vault-and-tracker/dev-env'
import { runCommand } from '@vault-and-tracker/service-kit/lifecycle/command'
import { keyringCommand } from '../src/commands/keyring.command.ts'
import { addToKeyringFile } from '../src/keyring/keyring.file.ts'
import { createKeyringFixture, type KeyringFixture } from './support/keyring.ts'
import { KEYS } from './support/vault.ts'
import { runProgram } from './support/vault-process.ts'

let fixture: KeyringFixture

beforeEach(async () => {
  fixture = await createKeyringFixture()
})
afterEach(() => fixture.remove())

test('creates a private file with the first key as the active one', async () => {
  const { file, keys } = fixture
  rmSync(file)
  expect((await keys('add', 'k1')).status).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const text = readFileSync(file, 'utf8')
  expect(JSON.parse(text)).toEqual({ active: 'k1', keys: { k1: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) } })
  const again = await keys('add', 'k1')
  expect([again.status, JSON.parse(again.stdout)]).toEqual([0, { id: 'k1', added: false }])
  expect(readFileSync(file, 'utf8')).toBe(text)
  // The database has the key now; another one with its id could not unwrap the same data keys.
  rmSync(file)
  expect(await keys('add', 'k1')).toMatchObject({ status: 1, stderr: expect.stringContaining('choose a new id') })
})

test('keeps both keys that two commands add at once', () => {
  const { file } = fixture
  writeFileSync(`${file}.lock`, '')
  expect(() => addToKeyringFile(file, 'k2')).toThrow('another command is changing the keyring')
  rmSync(`${file}.lock`)
  expect(addToKeyringFile(file, 'k2')).toBe(true)
  expect(Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { keys: object }).keys)).toEqual(['k1', 'k2'])
})

test('prints the usage for incorrect arguments', async () => {
  const { keys } = fixture
  const outcomes = await Promise.all([
    keys(),
    keys('status', 'a', 'b'),
    keys('add'),
    keys('add', 'k2', '--remove'),
    keys('renew', '--older-than', 'x'),
    keys('status', '--nonsense'),
  ])
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('Usage') })
})

test('refuses to activate a key that is not in the file', async () => {
  expect(await fixture.keys('activate', 'k2')).toEqual({
    status: 1,
    stdout: '',
    stderr: 'keyring: key k2 is not in the keyring; add it first\n',
  })
})

test('refuses to change a keyring that is not in a file', async () => {
  const env = {
    DATABASE_URL: fixture.database.appUrl,
    VAULT_KEYRING: `2026-11:${KEYS['2026-11']}`,
    VAULT_KEYRING_ACTIVE: '2026-11',
  }
  const add = await captureCommand((terminal) => runCommand(keyringCommand, terminal), { args: ['add', 'k2'], env })
  expect(add).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('VAULT_KEYRING_FILE'),
  })
})

test('refuses a keyring that others can read', async () => {
  const { file, keys } = fixture
  chmodSync(file, 0o640)
  expect(await keys('status')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/VAULT_KEYRING_FILE.*chmod 600/),
  })
})

test('the program runs the command', async () => {
  const script = 'commands/keyring.command'
  const [usage, status] = await Promise.all([
    runProgram(script, ['--help'], {}),
    runProgram(script, ['status'], fixture.env),
  ])
  expect(usage).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('retire') })
  expect([status.status, status.stderr]).toEqual([0, ''])
  expect(JSON.parse(status.stdout)).toMatchObject({ activeId: 'k1', keks: [{ id: 'k1', wraps: 0 }], valuesBehind: 0 })
})
