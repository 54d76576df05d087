// `npm start` with real servers: the printed commands work, and no process is left behind. Run with
// `node --test infra/start.test.mjs` after `pnpm build`.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  freePort,
  removeTemporaryFolder,
  startPostgres,
  startRedis,
  temporaryFolder,
  withClient,
} from '../packages/dev-env/dist/index.js'
import { isSameProcess } from '../packages/dev-env/src/processes/identity.mjs'

/**
 * A run of `npm start`.
 *
 * @typedef {{
 *   child: import('node:child_process').ChildProcess,
 *   output: string,
 *   exited: Promise<{ code: number | null, signal: NodeJS.Signals | null }>,
 * }} Run
 * @typedef {import('../packages/dev-env/src/processes/identity.mjs').SeenProcess} SeenProcess
 */

const root = join(import.meta.dirname, '..')
// Only its owner can enter this folder, so root's Postgres, which runs as another user, has its data elsewhere.
const folder = mkdtempSync(join(tmpdir(), 'start-test-'))
const IS_ROOT = process.getuid?.() === 0
const dataDir = join(folder, 'data $dir')
const ports = { VAULT_PORT: String(await freePort()), TRACKER_PORT: String(await freePort()) }
/** @type {Run[]} */
const runs = []
after(async () => {
  for (const one of runs) one.child.kill('SIGTERM')
  await Promise.all(runs.map((one) => one.exited))
  const cluster = join(dataDir, 'postgres/cluster')
  if (existsSync(cluster)) rmSync(realpathSync(cluster), { recursive: true })
  rmSync(folder, { recursive: true })
})

/** Variables of this process that would change a run. */
const NOT_INHERITED = { DATABASE_URL: undefined, REDIS_URL: undefined, npm_lifecycle_event: undefined }

/** Starts the script and collects its output. @param {Record<string, string>} [env] */
function start(env = {}) {
  const child = spawn(process.execPath, [join(root, 'infra/start.mjs')], {
    cwd: root,
    env: { ...process.env, ...NOT_INHERITED, DATA_DIR: dataDir, ...ports, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  /** @type {Run} */
  const one = { child, output: '', exited: once(child, 'exit').then(([code, signal]) => ({ code, signal })) }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (one.output += String(chunk)))
  runs.push(one)
  return one
}

/** Starts it and returns when it has printed that it is ready. @param {Record<string, string>} [env] */
async function startReady(env = {}) {
  const one = start(env)
  await printed(one, 'Ready after')
  return one
}

/** Waits until a run has printed a text. @param {Run} one @param {string} text */
async function printed(one, text) {
  while (!one.output.includes(text)) {
    if (one.child.exitCode !== null || one.child.signalCode !== null)
      assert.fail(`it ended before it printed "${text}":\n${one.output}`)
    await sleep(5)
  }
}

/**
 * The note about a process, next to its data.
 *
 * @param {string} file
 * @returns {{ process: SeenProcess, reaper: SeenProcess }}
 */
function noteOf(file) {
  return JSON.parse(readFileSync(join(dataDir, file), 'utf8'))
}

/** The processes of a run, from their notes. */
function processes() {
  const files = ['services/vault.json', 'services/tracker.json', 'postgres/process.json', 'redis/process.json']
  return files.map((file) => noteOf(file).process)
}

/** @param {SeenProcess[]} all @param {number} withinMs */
async function gone(all, withinMs) {
  const deadline = Date.now() + withinMs
  while (all.some(isSameProcess)) {
    assert.ok(Date.now() < deadline, 'a process was left behind')
    await sleep(50)
  }
}

/** The file that the last start wrote for scripts. @returns {import('../packages/dev-env/src/world/demo.ts').Demo} */
function demo() {
  return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
}

/** The run with this number, counted from the newest if negative. @param {number} number */
function runAt(number) {
  const run = runs.at(number)
  assert.ok(run)
  return run
}

test('prints commands that work as pasted, and writes the same for scripts to a private file', async () => {
  const run = await startReady()
  assert.equal(statSync(join(dataDir, 'demo.json')).mode & 0o777, 0o600)
  const { vault, tracker } = demo()
  assert.deepEqual(Object.keys(vault), ['url', 'adminToken', 'project', 'privateKey'])
  assert.deepEqual(Object.keys(tracker), ['url', 'users', 'torrentId', 'infoHash'])
  assert.deepEqual(tracker.users.map(({ role }) => role).sort(), ['admin', 'member', 'member'])
  for (const { passkey } of tracker.users) {
    assert.match(passkey, /^[0-9a-f]{40}$/)
    assert.ok(!run.output.includes(passkey))
  }
  assert.match(tracker.infoHash, /^[0-9a-f]{40}$/)
  const commands = run.output.split('\n').filter((_line, at, all) => all[at - 1]?.startsWith('  # '))
  const answers = commands.map((command) => spawnSync('sh', ['-c', command], { cwd: root, encoding: 'utf8' }))
  assert.deepEqual(
    answers.map(({ status, stderr }) => `${status}${stderr}`),
    ['0', '0', '0'],
  )
  const [secrets = '', projects = '', torrents = ''] = answers.map(({ stdout }) => stdout)
  assert.ok('STRIPE_API_KEY' in JSON.parse(secrets))
  assert.match(JSON.stringify(JSON.parse(projects)), /"demo"/)
  /** @type {{ items: { infoHash: string }[] }} */
  const { items } = JSON.parse(torrents)
  assert.equal(items[0]?.infoHash, tracker.infoHash)
})

test('the commands of the README register a project and run a program with its secret', () => {
  const { vault } = demo()
  const [, printed = ''] =
    /## A project of your own.*?```sh\n(.*?)```/s.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
  // The folder of someone who started it without settings.
  const reader = join(folder, 'reader')
  mkdirSync(reader)
  symlinkSync(dataDir, join(reader, '.data'))
  symlinkSync(join(root, 'packages'), join(reader, 'packages'))
  const script = printed.replace('http://127.0.0.1:4200', vault.url)
  const { status, stdout, stderr } = spawnSync('bash', ['-euc', script], { cwd: reader, encoding: 'utf8' })
  assert.equal(`${status}${stderr}`, '0')
  assert.equal(stdout, 'Registered project shop.\nSet PASSPHRASE in shop/production.\ncorrect horse\n')
})

test('has its data below the given folder, but those of Postgres elsewhere if its user cannot enter it', () => {
  const cluster = realpathSync(join(dataDir, 'postgres/cluster'))
  assert.equal(cluster.startsWith('/var/lib/'), IS_ROOT, cluster)
})

test('a second start in the same folder names the first', async () => {
  const second = start()
  assert.equal((await second.exited).code, 1)
  assert.match(second.output, new RegExp(`process ${runAt(0).child.pid} uses`))
})

test('a start in another folder on the same ports names the variables to set', async () => {
  const other = start({ DATA_DIR: join(folder, 'other') })
  assert.equal((await other.exited).code, 1)
  assert.match(other.output, /Set VAULT_PORT to another port/)
  assert.match(other.output, /Set TRACKER_PORT to another port/)
})

test('after kill -9 no process keeps running, and the next start has all data', async () => {
  const before = demo()
  const all = processes()
  runAt(0).child.kill('SIGKILL')
  await sleep(100)
  // At once, while the last run's servers are still on their way out.
  await startReady()
  assert.ok(!all.some(isSameProcess))
  assert.deepEqual(demo(), before)
  const response = await fetch(`${before.tracker.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      username: 'bob',
      password: before.tracker.users.find(({ username }) => username === 'bob')?.password,
    }),
  })
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const torrent = await fetch(`${before.tracker.url}/api/torrents/${before.tracker.torrentId}`, { headers: { cookie } })
  assert.equal(torrent.status, 200)
})

test('the password of a user and the key of a project can be changed', async () => {
  const { vault, tracker } = demo()
  const admin = tracker.users.find(({ role }) => role === 'admin') ?? assert.fail('there is no administrator')
  /** @param {string} path @param {object} body @param {string} [cookie] */
  const post = (path, body, cookie = '') =>
    fetch(tracker.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
  const { username, password } = admin
  const signedIn = await post('/api/auth/login', { username, password })
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0]
  const passwords = { currentPassword: password, newPassword: 'a new and better one' }
  assert.ok((await post('/api/user/password', passwords, cookie)).ok)
  const keys = `${vault.url}/v1/admin/projects/${vault.project}/keys`
  const headers = { authorization: `Bearer ${vault.adminToken}` }
  const [, fingerprint] = /"fingerprint":"(\w+)"/.exec(await (await fetch(keys, { headers })).text()) ?? []
  assert.ok((await fetch(`${keys}/${fingerprint}`, { method: 'DELETE', headers })).ok)
})

test('when the reaper is killed as well, the next start stops the remaining processes', async () => {
  const all = processes()
  process.kill(noteOf('services/vault.json').reaper.pid, 'SIGKILL')
  runAt(-1).child.kill('SIGKILL')
  await sleep(300)
  assert.equal(all.filter(isSameProcess).length, 4)
  const run = await startReady()
  assert.ok(!all.some(isSameProcess))
  assert.match(run.output, /The last run was interrupted/)
  // What was changed is a warning.
  assert.match(run.output, /user admin has a new password/)
  assert.match(run.output, /project demo of the vault has another key/)
})

test('after a signal everything is stopped in order, and the exit code is 0', async () => {
  const run = runAt(-1)
  const all = processes()
  run.child.kill('SIGINT')
  assert.deepEqual(await run.exited, { code: 0, signal: null }, run.output)
  await gone(all, 0)
  for (const name of ['vault', 'tracker'])
    assert.match(readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8'), /"stopped"/)
  assert.match(
    readFileSync(join(dataDir, 'postgres/postgres.log'), 'utf8').split('\n').at(-2) ?? '',
    /database system is shut down/,
  )
})

test('after a signal during a start no process keeps running, and the exit code is 130', async () => {
  const run = start()
  await printed(run, '✓ Redis')
  const note = noteOf('postgres/process.json')
  run.child.kill('SIGTERM')
  assert.deepEqual(await run.exited, { code: 130, signal: null })
  await gone([note.process], 0)
})

test('when a service dies, the end of its log is shown, and everything else is stopped', async () => {
  const run = await startReady()
  const all = processes()
  process.kill(all[1]?.pid ?? assert.fail('the tracker left no note'), 'SIGKILL')
  assert.equal((await run.exited).code, 1)
  assert.match(run.output, /tracker ended unexpectedly. The end of its log:\n\n.*"name":"tracker"/)
  await gone(all, 0)
})

test('given servers that do not answer are reported before anything is created', async () => {
  const port = await freePort()
  const database = start({
    DATA_DIR: join(folder, 'unanswered'),
    DATABASE_URL: `postgres://me:secret@127.0.0.1:${port}/`,
  })
  assert.equal((await database.exited).code, 1)
  assert.match(database.output, /No Postgres answers at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/)
  const redis = start({ DATA_DIR: join(folder, 'unanswered'), REDIS_URL: `redis://:secret@127.0.0.1:${port}` })
  assert.equal((await redis.exited).code, 1)
  assert.match(redis.output, /No Redis answers at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/)
  for (const { output } of [database, redis]) assert.doesNotMatch(output, /secret|\n +at /)
  assert.throws(() => statSync(join(folder, 'unanswered', 'state.json')))
})

test('uses given servers, with database names after the given database', async () => {
  const place = temporaryFolder('given')
  const postgres = await startPostgres({ dataDir: join(place, 'postgres'), durable: false })
  const given = await startRedis({ dataDir: join(place, 'redis'), durable: false })
  /** @param {string} sql @returns {Promise<{ name: string }[]>} */
  const query = (sql) => withClient(postgres.url, async (client) => (await client.query(sql)).rows)
  await query('create database "Team One"')
  const team = Object.assign(new URL(postgres.url), { pathname: '/Team%20One' })
  const run = await startReady({
    DATA_DIR: join(folder, 'given'),
    DATABASE_URL: team.href,
    REDIS_URL: given.url,
  })
  const announced = run.output.indexOf('this creates: role team_one_vault_owner')
  assert.ok(announced > 0 && announced < run.output.indexOf('✓ databases migrated'), run.output)
  const names = await query("select datname as name from pg_database where datname like 'team%' order by 1")
  assert.deepEqual(
    names.map(({ name }) => name),
    ['team_one_tracker', 'team_one_vault'],
  )
  const roles = await query("select rolname as name from pg_roles where rolname like 'team%' order by 1")
  assert.equal(roles.length, 4)
  assert.throws(() => statSync(join(folder, 'given', 'postgres')))
  run.child.kill('SIGTERM')
  assert.equal((await run.exited).code, 0)
  assert.ok(postgres.isRunning() && given.isRunning())
  await Promise.all([postgres.stop(), given.stop()])
  removeTemporaryFolder(place)
})
