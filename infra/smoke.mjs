// What `infra/smoke` runs: both main jobs, from outside, against running containers.
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeBencode } from '../packages/bencode-tracker/dist/index.js'
import { transferFile } from '../packages/dev-env/dist/index.js'
import { generateKeyPair, importPrivateKey, signRequest } from '../packages/http-signatures/dist/index.js'
import { createVaultClient } from '../packages/vault-client/dist/index.js'

const READY_TIMEOUT_MS = 60_000
const TRANSFER_TIMEOUT_MS = 60_000
const CREDIT_TIMEOUT_MS = 30_000
const FILE_BYTES = 8 * 1024 * 1024
const PIECE_BYTES = 256 * 1024

const root = join(import.meta.dirname, '..')
const settings = { ...readDotEnv(join(root, '.env')), ...process.env }
const vaultUrl = settings.VAULT_URL ?? `http://localhost:${firstPort(settings.VAULT_PORT) ?? 4200}`
const trackerUrl = settings.TRACKER_URL ?? `http://localhost:${firstPort(settings.TRACKER_PORT) ?? 6969}`
/** A name of its own for everything that this run makes. */
const runId = `smoke-${randomBytes(4).toString('hex')}`

/** What was made, undone in reverse order whatever happens. */
const undo = []
let failures = 0
for (const [name, job] of [
  ['vault', checkVault],
  ['tracker', checkTracker],
]) {
  try {
    await job((fact) => console.log(`ok    ${name}: ${fact}`))
  } catch (error) {
    failures += 1
    console.log(`FAIL  ${name}: ${reasonOf(error)}`)
  }
}
for (const { what, run } of undo.reverse()) {
  try {
    await run()
  } catch (error) {
    failures += 1
    console.log(`FAIL  could not remove ${what}: ${reasonOf(error)}`)
  }
}
console.log(failures === 0 ? 'both services do their main job' : 'the containers do not work as they should')
process.exitCode = failures === 0 ? 0 : 1

/** A project with a new key stores a secret and reads it back, signed; a replay is refused; the audit log tells of it. */
async function checkVault(ok) {
  await ready(vaultUrl)
  const token = settings.ADMIN_TOKEN
  expect(token, 'ADMIN_TOKEN is neither in the environment nor in .env')
  const admin = (method, path, body) =>
    answer(vaultUrl, path, { method, body, headers: { authorization: `Bearer ${token}` } })

  const { privateJwk: privateKey, publicKeyHex } = generateKeyPair()
  await admin('POST', '/v1/admin/projects', { name: runId, publicKey: publicKeyHex })
  let registered = true
  const removeProject = async () => {
    if (registered) await admin('DELETE', `/v1/admin/projects/${runId}`)
    registered = false
  }
  undo.push({ what: `the project ${runId}`, run: removeProject })
  ok('a project is registered')

  const client = createVaultClient({ url: vaultUrl, project: runId, privateKey })
  const value = randomBytes(24).toString('base64')
  await client.put('SMOKE', value, 'production')
  expect((await client.getAll()).SMOKE === value, 'the secret that was read is not the one that was written')
  ok('a secret is written and read back with signed requests')

  const dump = compose(['exec', '-T', 'postgres', 'pg_dump', '--username=postgres', '--data-only', 'vault'])
  const clear = [value, Buffer.from(value).toString('hex'), Buffer.from(value).toString('base64')]
  expect(dump.includes(runId), 'the dump of the database lacks the project')
  expect(!clear.some((text) => dump.includes(text)), 'the database holds the value in the clear')
  ok('the database does not hold the value in the clear')

  const request = { method: 'GET', url: new URL('/v1/secrets', vaultUrl).href }
  const nonce = randomBytes(16).toString('hex')
  const created = Math.floor(Date.now() / 1000)
  const headers = signRequest({ ...request, project: runId, key: importPrivateKey(privateKey), created, nonce })
  const [first, replay] = [await fetch(request.url, { headers }), await fetch(request.url, { headers })]
  const refusal = await replay.json()
  expect(first.status === 200, `a signed request was answered ${first.status}`)
  expect(replay.status === 401 && refusal.error === 'replayed_nonce', `a replay was answered ${replay.status}`)
  ok('a replayed request is refused')

  const entries = await admin('GET', `/v1/admin/audit?projectId=${runId}`)
  expect(entries.filter(({ action }) => action === 'fetch').length === 2, 'the audit log lacks the two fetches')
  ok('the audit log tells of both fetches and of no more')

  await removeProject()
  const code = await client.getAll().then(
    () => 'success',
    (error) => error.code,
  )
  expect(code === 'unknown_project', `a request of the deleted project ended with ${code}`)
  ok('the project is deleted')
}

/** An administrator uploads a torrent, and a member's client gets its bytes from the uploader's through the tracker. */
async function checkTracker(ok) {
  expect(isInstalled('aria2c'), 'aria2c is not installed (Debian: apt-get install aria2)')
  await ready(trackerUrl)
  const uploader = await signUp('admin')
  const member = await signUp('member')
  ok('two users are made and sign in')

  const categories = await uploader('GET', '/api/categories')
  if (categories.items.length === 0) await uploader('POST', '/api/admin/categories/seed')
  const folder = mkdtempSync(join(tmpdir(), 'smoke-'))
  undo.push({ what: folder, run: () => rmSync(folder, { recursive: true, force: true }) })
  const payload = randomBytes(FILE_BYTES)
  const file = join(folder, `${runId}.bin`)
  writeFileSync(file, payload)

  const form = new FormData()
  form.set('torrent', new Blob([torrentOf(payload)], { type: 'application/x-bittorrent' }), `${runId}.torrent`)
  form.set('name', runId)
  form.set('category', (await uploader('GET', '/api/categories')).items[0].slug)
  const torrent = await uploader('POST', '/api/torrents', form)
  undo.push({ what: `the torrent ${torrent.id}`, run: () => uploader('DELETE', `/api/torrents/${torrent.id}`) })
  ok(`a torrent is uploaded, info hash ${torrent.infoHash}`)

  const download = `/api/torrents/${torrent.id}/download`
  const { elapsedMs } = await transferFile({
    seedTorrent: await uploader('GET', download),
    leechTorrent: await member('GET', download),
    file,
    workDir: folder,
    timeoutMs: TRANSFER_TIMEOUT_MS,
    address: addressAsSeen(),
  })
  ok(`the same ${FILE_BYTES / 1024 / 1024} MiB arrive from one aria2c at another in ${(elapsedMs / 1000).toFixed(1)} s`)
  await Promise.all([credited(uploader, 'uploaded'), credited(member, 'downloaded')])
  ok('the bytes are credited to both users')
}

/** Waits until the tracker has written down what a user moved, and that the user's client is gone. */
async function credited(user, direction) {
  const { id } = await user('GET', '/api/user/me')
  const deadline = Date.now() + CREDIT_TIMEOUT_MS
  for (;;) {
    const stats = await user('GET', `/api/user/${id}/stats`)
    if (stats[direction] === FILE_BYTES && stats.seeding + stats.leeching === 0) return
    expect(
      Date.now() < deadline,
      `not all bytes were credited within ${CREDIT_TIMEOUT_MS / 1000} s: ${JSON.stringify(stats)}`,
    )
    await sleep(1_000)
  }
}

/** Makes a user as an operator does, signs in over HTTP, and returns how to call the API as this user. */
async function signUp(role) {
  const username = `${runId}-${role}`
  const password = randomBytes(16).toString('hex')
  const create = ['create', '--username', username, '--email', `${username}@example.org`, '--role', role]
  const command = ['node', 'dist/commands/users.command.js', ...create, '--password-stdin']
  const { id } = JSON.parse(compose(['exec', '-T', 'tracker', ...command], `${password}\n`).trim())
  undo.push({ what: `the user ${username}`, run: () => removeUser(id) })

  const signedIn = await send(trackerUrl, '/api/auth/login', { method: 'POST', body: { username, password } })
  expect(signedIn.status === 200, `signing in was answered ${signedIn.status} ${await signedIn.text()}`)
  const [cookie] = signedIn.headers.getSetCookie().map((line) => line.split(';')[0])
  return (method, path, body) => answer(trackerUrl, path, { method, body, headers: { cookie } })
}

/** No API deletes a user, so that statistics keep their owner; a user of this run owns nothing but the run's torrent. */
function removeUser(id) {
  expect(/^[0-9a-f-]{36}$/.test(id), 'the id of the user is no UUID')
  const sql = `begin; delete from torrents where uploader_id = '${id}'; delete from user_torrents where user_id = '${id}';
    delete from users where id = '${id}'; commit`
  compose(
    ['exec', '-T', 'postgres', 'psql', '--quiet', '--username=postgres', '--dbname=tracker', '--set=ON_ERROR_STOP=1'],
    sql,
  )
}

/**
 * Who calls a published port from this machine appears to the container as its gateway, so that is the address the
 * clients are handed out with, and have to listen on. Elsewhere, as in a virtual machine, they stay on the loopback.
 */
function addressAsSeen() {
  const routes = compose(['exec', '-T', 'tracker', 'cat', '/proc/net/route']).split('\n')
  const gateway = routes.map((line) => line.split('\t')).find(([, destination]) => destination === '00000000')?.[2]
  const address = gateway && [...Buffer.from(gateway, 'hex')].reverse().join('.')
  const own = Object.values(networkInterfaces())
    .flat()
    .map((each) => each.address)
  return own.includes(address) ? address : '127.0.0.1'
}

/** A private torrent of one file (BEP 3, BEP 27). */
function torrentOf(payload) {
  const pieces = []
  for (let at = 0; at < payload.length; at += PIECE_BYTES)
    pieces.push(
      createHash('sha1')
        .update(payload.subarray(at, at + PIECE_BYTES))
        .digest(),
    )
  const info = {
    length: payload.length,
    name: `${runId}.bin`,
    'piece length': PIECE_BYTES,
    pieces: Buffer.concat(pieces),
  }
  return encodeBencode({ announce: 'http://localhost/announce', info: { ...info, private: 1 } })
}

async function ready(url) {
  const deadline = Date.now() + READY_TIMEOUT_MS
  let last = 'no answer'
  while (Date.now() < deadline) {
    try {
      const response = await fetch(new URL('/ready', url), { signal: AbortSignal.timeout(5_000) })
      if (response.ok) return
      last = `${response.status} ${await response.text()}`
    } catch (error) {
      last = reasonOf(error)
    }
    await sleep(500)
  }
  throw new Error(`${url}/ready was not 200 within ${READY_TIMEOUT_MS / 1000} s: ${last}`)
}

function send(url, path, { method, body, headers }) {
  const json = body !== undefined && !(body instanceof FormData)
  return fetch(new URL(path, url), {
    method,
    headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
    body: json ? JSON.stringify(body) : body,
    signal: AbortSignal.timeout(15_000),
  })
}

/** The parsed body of a success: JSON, or a Buffer of anything else. */
async function answer(url, path, request) {
  const response = await send(url, path, request)
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.ok, `${request.method} ${path} was answered ${response.status} ${bytes.toString().slice(0, 300)}`)
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(bytes.toString()) : bytes
}

/** Runs Compose, v2 or 1.29, and returns what it printed. */
function compose(args, input = '') {
  const [command, ...first] = composeCommand()
  const { status, stdout, stderr, error } = spawnSync(command, [...first, ...args], {
    cwd: root,
    input,
    encoding: 'utf8',
  })
  expect(
    status === 0,
    `${command} ${args.slice(0, 5).join(' ')} … failed: ${error?.message ?? `${stderr}${stdout}`.trim()}`,
  )
  return stdout
}

function composeCommand() {
  return spawnSync('docker', ['compose', 'version']).status === 0 ? ['docker', 'compose'] : ['docker-compose']
}

function isInstalled(program) {
  return spawnSync(program, ['--version']).status === 0
}

function readDotEnv(path) {
  if (!existsSync(path)) return {}
  const lines = readFileSync(path, 'utf8').split('\n')
  return Object.fromEntries(
    lines.filter((line) => /^[A-Z_]+=/.test(line)).map((line) => line.split(/=(.*)/s).slice(0, 2)),
  )
}

/** Of `4200`, or of a range as `4200-4203`; undefined where nothing is set. */
function firstPort(ports) {
  return ports?.match(/^\d+/)?.[0]
}

function expect(condition, reason) {
  if (!condition) throw new Error(reason)
}

/** An error as one line; fetch hides the reason in the cause. */
function reasonOf(error) {
  const cause = error.cause?.message || error.cause?.code
  return cause && !error.message.includes(cause) ? `${error.message}: ${cause}` : error.message
}
