import { ok as expect } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { transferFile } from '../exchange/exchange.ts'
import { findProgram } from '../processes/command.mjs'
import { torrentOf } from '../world/demo-torrent.ts'
import { bytesOf, type Call, callerWith, jsonOf, signIn, uploadTorrent } from '../world/http.ts'
import { type Check, ready } from './check.ts'
import { addressSeenBy } from './compose.ts'

const TRANSFER_TIMEOUT_MS = 60_000
const CREDIT_TIMEOUT_MS = 30_000
const FILE_BYTES = 8 * 1024 * 1024

/** An administrator uploads a torrent, and a member's client gets its bytes from the uploader's through the tracker. */
export async function checkTracker(check: Check): Promise<void> {
  const { url, runId, compose, ok, later } = check
  expect(findProgram('aria2c') !== undefined, 'aria2c is not installed (Debian: apt-get install aria2)')
  await ready(url)
  const uploader = await signUp(check, 'admin')
  const member = await signUp(check, 'member')
  ok('two users are created and sign in')

  if ((await categories(uploader)).length === 0) {
    await bytesOf(await uploader('POST', '/api/admin/categories/seed'))
    later('the categories', async () => bytesOf(await uploader('DELETE', '/api/admin/categories')))
  }
  const folder = mkdtempSync(join(tmpdir(), 'smoke-'))
  later(folder, () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, `${runId}.bin`)
  writeFileSync(file, randomBytes(FILE_BYTES))

  const category = (await categories(uploader))[0]?.slug ?? ''
  const uploaded = await uploadTorrent(uploader, torrentOf(file, `${url}/announce`), { name: runId, category })
  const torrent = (await jsonOf(uploaded)) as { id: string; infoHash: string }
  later(`the torrent ${torrent.id}`, async () => bytesOf(await uploader('DELETE', `/api/torrents/${torrent.id}`)))
  ok(`a torrent is uploaded, info hash ${torrent.infoHash}`)

  const download = `/api/torrents/${torrent.id}/download`
  const { elapsedMs } = await transferFile({
    seedTorrent: await bytesOf(await uploader('GET', download)),
    leechTorrent: await bytesOf(await member('GET', download)),
    file,
    workDir: folder,
    timeoutMs: TRANSFER_TIMEOUT_MS,
    address: addressSeenBy(compose),
  })
  ok(`the same ${FILE_BYTES / 1024 / 1024} MiB arrive from one aria2c at another in ${(elapsedMs / 1000).toFixed(1)} s`)
  await Promise.all([credited(uploader, 'uploaded'), credited(member, 'downloaded')])
  ok('the bytes are credited to both users')
}

async function categories(user: Call): Promise<{ slug: string }[]> {
  return ((await jsonOf(await user('GET', '/api/categories'))) as { items: { slug: string }[] }).items
}

/** Waits until the tracker has stored what a user transferred, and the user's client is not in the swarm any more. */
async function credited(user: Call, direction: 'uploaded' | 'downloaded'): Promise<void> {
  const { id } = (await jsonOf(await user('GET', '/api/user/me'))) as { id: string }
  const deadline = Date.now() + CREDIT_TIMEOUT_MS
  for (;;) {
    const stats = (await jsonOf(await user('GET', `/api/user/${id}/stats`))) as Record<string, number>
    if (stats[direction] === FILE_BYTES && stats['seeding'] === 0 && stats['leeching'] === 0) return
    expect(
      Date.now() < deadline,
      `not all bytes were credited within ${CREDIT_TIMEOUT_MS / 1000} s: ${JSON.stringify(stats)}`,
    )
    await sleep(1_000)
  }
}

/** Creates a user as an operator does, signs in over HTTP, and returns a function that calls the API as this user. */
async function signUp({ url, runId, compose, later }: Check, role: 'admin' | 'member'): Promise<Call> {
  const username = `${runId}-${role}`
  const password = randomBytes(16).toString('hex')
  const create = ['create', '--username', username, '--email', `${username}@example.org`, '--role', role]
  const command = ['node', 'dist/commands/users.command.js', ...create, '--password-stdin']
  const { id } = JSON.parse(compose.exec('tracker', command, `${password}\n`)) as { id: string }
  later(`the user ${username}`, () => removeUser(compose, id))

  const cookie = await signIn(url, username, password)
  expect(cookie !== undefined, `${username} could not sign in`)
  return callerWith(url, cookie)
}

/** No API deletes a user, since statistics refer to them; a user of this run owns only the run's torrent. */
function removeUser(compose: Check['compose'], id: string): void {
  expect(/^[0-9a-f-]{36}$/.test(id), 'the id of the user is no UUID')
  const sql = `begin; delete from torrents where uploader_id = '${id}'; delete from user_torrents where user_id = '${id}';
    delete from admin_log where actor_id = '${id}'; delete from users where id = '${id}'; commit`
  compose.exec('postgres', ['psql', '--quiet', '--username=postgres', '--dbname=tracker', '--set=ON_ERROR_STOP=1'], sql)
}
