import { ok as expect } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { transferFile } from '../exchange/exchange.ts'
import { eventually } from '../testing/eventually.ts'
import { torrentOf } from '../world/demo-torrent.ts'
import { bytesOf, type Call, callerWith, jsonOf, signIn, uploadTorrent } from '../world/http.ts'
import type { Check } from './check.ts'

const TRANSFER_TIMEOUT_MS = 60_000
const CREDIT_TIMEOUT_MS = 30_000
const FILE_BYTES = 8 * 1024 * 1024

/** An administrator uploads a torrent, and a member's client downloads its file through the tracker. */
export async function checkTracker(check: Check): Promise<void> {
  const { url, runId, ok, later } = check
  const { awaitsSetup } = (await jsonOf(await fetch(`${url}/api/site`))) as { awaitsSetup: boolean }
  const uploader = await signUp(check, 'admin')
  if (awaitsSetup)
    later('the mark that the site is set up', async () => {
      const others = `select from users where role = 'admin' and username <> '${runId}-admin'`
      sql(check, `update site_settings set had_administrator = exists (${others})`)
      // Makes all processes read it.
      await bytesOf(await uploader('PATCH', '/api/admin/site', {}))
    })
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
  const { id, infoHash } = (await jsonOf(uploaded)) as { id: string; infoHash: string }
  later(`the torrent ${id}`, async () => bytesOf(await uploader('DELETE', `/api/torrents/${id}`)))
  ok(`a torrent is uploaded, info hash ${infoHash}`)

  const download = `/api/torrents/${id}/download`
  const { elapsedMs } = await transferFile({
    seedTorrent: await bytesOf(await uploader('GET', download)),
    leechTorrent: await bytesOf(await member('GET', download)),
    file,
    workDir: folder,
    timeoutMs: TRANSFER_TIMEOUT_MS,
    address: ownAddress(check),
  })
  ok(`aria2c transfers ${FILE_BYTES / 1024 / 1024} MiB to another aria2c in ${(elapsedMs / 1000).toFixed(1)} s`)
  await Promise.all([untilCredited(uploader, 'uploaded'), untilCredited(member, 'downloaded')])
  ok('the bytes are credited to both users')
}

/**
 * The address of this machine as the tracker's container sees it, which is the address of the container's gateway. In other
 * set-ups, such as a virtual machine, it is the loopback.
 */
function ownAddress({ exec }: Check): string {
  const routes = exec('tracker', ['cat', '/proc/net/route']).split('\n')
  const gateway = routes.map((line) => line.split('\t')).find(([, destination]) => destination === '00000000')?.[2]
  const address = [...Buffer.from(gateway ?? '', 'hex')].reverse().join('.')
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return own.some((each) => each.address === address) ? address : '127.0.0.1'
}

async function categories(user: Call): Promise<{ slug: string }[]> {
  return ((await jsonOf(await user('GET', '/api/categories'))) as { items: { slug: string }[] }).items
}

/** Waits until the tracker has credited the transfer and the user's client has left the swarm. */
async function untilCredited(user: Call, direction: 'uploaded' | 'downloaded'): Promise<void> {
  const { id } = (await jsonOf(await user('GET', '/api/user/me'))) as { id: string }
  let stats: Record<string, number> = {}
  const isCredited = async (): Promise<boolean> => {
    stats = (await jsonOf(await user('GET', `/api/user/${id}/stats`))) as Record<string, number>
    return stats[direction] === FILE_BYTES && stats['seeding'] === 0 && stats['leeching'] === 0
  }
  await eventually(isCredited, CREDIT_TIMEOUT_MS, 1_000).catch(() => {
    throw new Error(`not all bytes were credited within ${CREDIT_TIMEOUT_MS / 1000} s: ${JSON.stringify(stats)}`)
  })
}

/** Creates a user the way operators do, signs in over HTTP, and returns a function that calls the API as this user. */
async function signUp(check: Check, role: 'admin' | 'member'): Promise<Call> {
  const { url, runId, exec, later } = check
  const username = `${runId}-${role}`
  const password = randomBytes(16).toString('hex')
  const create = ['create', '--username', username, '--email', `${username}@example.org`, '--role', role]
  const command = ['node', 'dist/commands/users.command.js', ...create, '--password-stdin']
  const { id } = JSON.parse(exec('tracker', command, `${password}\n`)) as { id: string }
  later(`the user ${username}`, () => {
    // No API deletes a user, because statistics refer to users. The users of this run own only its torrent.
    expect(/^[0-9a-f-]{36}$/.test(id), 'the id of the user is not a UUID')
    const statements = `begin; delete from torrents where uploader_id = '${id}'; delete from user_torrents where user_id = '${id}';
      delete from admin_log where actor_id = '${id}'; delete from users where id = '${id}'; commit`
    sql(check, statements)
  })
  const cookie = await signIn(url, username, password)
  expect(cookie !== undefined, `${username} could not sign in`)
  return callerWith(url, cookie)
}

/** Runs statements as superuser. */
function sql({ exec }: Check, statements: string): void {
  exec('postgres', ['psql', '--quiet', '--username=postgres', '--dbname=tracker', '--set=ON_ERROR_STOP=1'], statements)
}
