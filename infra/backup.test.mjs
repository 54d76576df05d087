// Backups of a private Postgres. Run with `node --test infra/backup.test.mjs`.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { installPackages, requireProgram } from '../packages/dev-env/src/processes/programs.mjs'

const script = join(import.meta.dirname, 'backup')
const work = mkdtempSync(join(tmpdir(), 'backup-'))
const data = join(work, 'data')
const folder = join(work, 'backups')
const identity = join(work, 'identity')
const asPostgres = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : ['env']
let bin = ''
let port = 0
let recipient = ''

before(async () => {
  await requireProgram('age')
  if (serverFolder() === undefined)
    await installPackages(['postgresql'], 'Not installed: sudo apt-get install postgresql.')
  bin = serverFolder() ?? ''
  port = await freePort()
  chmodSync(work, 0o755)
  mkdirSync(data)
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', data])
  asServer('initdb', '--pgdata', data, '--username=postgres', '--auth=trust', '--no-sync')
  const options = `-c port=${port} -c unix_socket_directories=${data} -c fsync=off`
  asServer('pg_ctl', '--pgdata', data, '--log', join(data, 'log'), '--options', options, '--wait', 'start')
  execFileSync('age-keygen', ['--output', identity], { stdio: 'ignore' })
  recipient = execFileSync('age-keygen', ['-y', identity], { encoding: 'utf8' }).trim()
  for (const name of ['vault', 'tracker']) sql('postgres', `create database ${name}`)
  sql('vault', 'create table secrets (value text); insert into secrets select generate_series(1, 1000)::text')
  sql('tracker', 'create schema other; create table other."A b" as select 1 as id')
})

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
})

after(() => {
  if (bin !== '') asServer('pg_ctl', '--pgdata', data, '--mode=immediate', 'stop')
  rmSync(work, { recursive: true })
})

/** The programs of the installed server, which Debian keeps out of PATH. */
function serverFolder() {
  const { stdout } = spawnSync('sh', ['-c', 'ls -d /usr/lib/postgresql/*/bin | sort --version-sort | tail -1'])
  return stdout.toString().trim() || undefined
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

/** @param {string} program @param {readonly string[]} args */
function asServer(program, ...args) {
  execFileSync(asPostgres[0] ?? '', [...asPostgres.slice(1), join(bin, program), ...args], { stdio: 'ignore' })
}

/** @param {string} database @param {string} statement */
function sql(database, statement) {
  const args = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-d', database, '-Atqc', statement]
  return execFileSync(join(bin, 'psql'), args, { encoding: 'utf8' }).trim()
}

function environment() {
  const PATH = `${bin}:${process.env['PATH'] ?? ''}`
  const server = { PATH, PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' }
  return { ...server, BACKUP_RECIPIENT: recipient, BACKUP_FOLDER: folder }
}

/** @param {Record<string, string>} settings @param {readonly string[]} args */
function backUp(settings = {}, ...args) {
  return spawnSync(script, args, { env: { ...environment(), ...settings }, encoding: 'utf8' })
}

test('both databases are backed up, and the dumps have their rows once they are decrypted', () => {
  const { status, stderr } = backUp()
  assert.equal(status, 0, stderr)
  const files = readdirSync(folder).sort()
  assert.deepEqual(
    files.map((file) => file.replace(/-.*Z/, '')),
    ['tracker.dump.age', 'vault.dump.age'],
  )
  sql('postgres', 'create database restored')
  const restore = `age --decrypt --identity "$1" "$2" | "$3/pg_restore" -h 127.0.0.1 -p "$4" -U postgres -d restored`
  const args = [identity, join(folder, files[1] ?? ''), bin, String(port)]
  execFileSync('bash', ['-eo', 'pipefail', '-c', restore, 'bash', ...args])
  assert.equal(sql('restored', 'select count(*) from secrets'), '1000')
  sql('postgres', 'drop database restored')
  assert.equal(sql('postgres', `select count(*) from pg_database where datname like '%check'`), '0')
})

test('the newest backups are kept, and only those of its database are deleted', () => {
  for (const day of ['01', '02', '03']) writeFileSync(join(folder, `vault-2026-01-${day}T033000Z.dump.age`), '')
  writeFileSync(join(folder, 'vault-2026-01-01T033000Z.dump'), '')
  assert.equal(backUp({ BACKUP_DATABASES: 'vault', BACKUP_KEEP: '2' }).status, 0)
  const [kept, ...others] = readdirSync(folder).sort()
  assert.deepEqual([kept, others.length], ['vault-2026-01-01T033000Z.dump', 2])
  assert.equal(others[0], 'vault-2026-01-03T033000Z.dump.age')
})

for (const [what, settings] of /** @type {const} */ ([
  ['is encrypted to a key that is none', { BACKUP_RECIPIENT: 'age1nothing' }],
  ['is of a database that does not exist', { BACKUP_DATABASES: 'missing' }],
  ['has no folder', { BACKUP_FOLDER: '/nonexistent' }],
]))
  test(`a backup that ${what} fails and leaves nothing behind`, () => {
    const { status } = backUp({ BACKUP_DATABASES: 'vault', ...settings })
    assert.notEqual(status, 0)
    assert.deepEqual(readdirSync(folder), [])
  })

test('a dump that cannot be restored is deleted, the others are kept', () => {
  sql('postgres', 'create database broken')
  // The constraint reads a table that is empty when the rows are restored.
  sql(
    'broken',
    `create table b (id int); create table a (id int);
     create function has_rows() returns boolean language sql as 'select exists (select from public.b)';
     insert into b values (1); insert into a values (1); alter table a add check (has_rows())`,
  )
  const { status } = backUp({ BACKUP_DATABASES: 'broken vault' })
  assert.notEqual(status, 0)
  assert.deepEqual(
    readdirSync(folder).map((file) => file.replace(/-.*/, '')),
    ['vault'],
  )
  sql('postgres', 'drop database broken')
})

test('the keyring is encrypted to the same key, as lines of .env, and pruned like the dumps', () => {
  writeFileSync(join(folder, 'keyring-2026-01-01T033000Z.env.age'), '')
  const file = join(work, 'keyring')
  writeFileSync(file, '{"active":"a"}\n')
  for (const [settings, lines] of /** @type {const} */ ([
    [{ VAULT_KEYRING: 'a:YQ==', VAULT_KEYRING_ACTIVE: 'a' }, 'VAULT_KEYRING=a:YQ==\nVAULT_KEYRING_ACTIVE=a\n'],
    [{ VAULT_KEYRING_FILE: file }, 'VAULT_KEYRING={"active":"a"}\nVAULT_KEYRING_ACTIVE=\n'],
  ])) {
    const { status, stderr } = backUp({ BACKUP_DATABASES: 'vault', BACKUP_KEEP: '1', ...settings })
    assert.equal(status, 0, stderr)
    const [keyring = '', ...others] = readdirSync(folder).sort()
    assert.match(keyring, /^keyring-/)
    assert.equal(others.length, 1)
    const args = ['--decrypt', '--identity', identity, join(folder, keyring)]
    assert.equal(execFileSync('age', args, { encoding: 'utf8' }), lines)
  }
})

test('a scheduled backup whose encryption fails leaves nothing behind, and the next one is waited for', async () => {
  const stubs = join(work, 'stubs')
  mkdirSync(stubs)
  const asleep = join(work, 'asleep')
  for (const [name, text] of Object.entries({
    age: 'printf partial >"$5"; cat >/dev/null; exit 1',
    sleep: `touch ${asleep}; exec /bin/sleep "$@"`,
  }))
    writeFileSync(join(stubs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  const env = { ...environment(), PATH: `${stubs}:${environment().PATH}`, BACKUP_DATABASES: 'vault' }
  const schedule = spawn(script, ['schedule'], { env, stdio: 'ignore' })
  const ended = once(schedule, 'exit')
  while (!existsSync(asleep)) await setTimeout(20)
  assert.deepEqual(readdirSync(folder), [])
  schedule.kill()
  assert.deepEqual(await ended, [0, null])
})

test('two backups at once wait for each other', async () => {
  const run = () => once(spawn(script, { env: environment(), stdio: 'ignore' }), 'exit')
  assert.deepEqual(await Promise.all([run(), run()]), [
    [0, null],
    [0, null],
  ])
})

test('a backup is healthy while each database has one of the last 26 hours', () => {
  assert.notEqual(backUp({}, 'health').status, 0)
  const file = (/** @type {string} */ name) => join(folder, `${name}-2026-01-01T033000Z.dump.age`)
  for (const name of ['vault', 'tracker']) writeFileSync(file(name), '')
  assert.equal(backUp({}, 'health').status, 0)
  const old = Date.now() / 1000 - 27 * 3600
  utimesSync(file('vault'), old, old)
  assert.notEqual(backUp({}, 'health').status, 0)
})
