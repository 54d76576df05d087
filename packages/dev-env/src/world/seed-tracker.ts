import { join } from 'node:path'
import { Fault } from '../processes/command.mjs'
import { generateFile, torrentOf } from './demo-torrent.ts'
import type { Code } from './options.ts'
import { runCommand } from './service-command.ts'
import type { DemoUser, StateFile } from './state.ts'
import { describe, sessionOf, signIn, type TrackerSession } from './tracker-session.ts'

const FILE = join('demo', 'vault-and-tracker-demo.bin')
const FILE_BYTES = 4 * 1024 * 1024
const TORRENT_NAME = 'Vault and Tracker demo file'
const CATEGORY = 'software'

/** What the tracker's demo data needs. */
export interface TrackerSeed {
  code: Code
  dataDir: string
  url: string
  /** Of the run-time role. */
  databaseUrl: string
  redisUrl: string
  file: StateFile
}

/** Creates users, categories and one torrent, where they are missing. */
export async function seedTracker(seed: TrackerSeed): Promise<void> {
  const { state, save } = seed.file
  if (await isSeeded(seed)) return
  for (const user of state.tracker.users) user.passkey = await ensureUser(seed, user)
  save()
  const admin = state.tracker.users.find(({ role }) => role === 'admin')
  const session = admin && (await signIn(seed.url, admin.username, admin.password))
  if (session === undefined) throw new Fault(ofAnotherFolder('admin'))
  const seeded = await session.post('/api/admin/categories/seed')
  if (!seeded.ok && seeded.status !== 409) throw new Error(`no categories were created: ${await describe(seeded)}`)
  state.tracker.torrent = await ensureTorrent(seed, session)
  state.tracker.cookie = session.cookie
  save()
}

/** Whether the demo data is complete, found out with one request to keep a start short. */
async function isSeeded({ url, file }: TrackerSeed): Promise<boolean> {
  const { users, torrent, cookie } = file.state.tracker
  if (torrent === undefined || cookie === undefined || users.some(({ passkey }) => passkey === undefined)) return false
  const response = await sessionOf(url, cookie).get(`/api/torrents/${torrent.id}`)
  await response.body?.cancel()
  return response.ok
}

async function ensureUser({ code, databaseUrl, redisUrl, url }: TrackerSeed, user: DemoUser): Promise<string> {
  const { username, email, role, password } = user
  const created = await runCommand({
    code,
    service: 'tracker',
    module: 'commands/users.command',
    args: ['create', '--username', username, '--email', email, '--role', role, '--password-stdin'],
    env: { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
    stdin: password,
  })
  if (created.code === 0) return (JSON.parse(created.stdout) as { passkey: string }).passkey
  if (created.code !== 2) throw new Error(`the tracker did not create the user ${username}:\n${created.output}`)
  // The name is taken: by an earlier start that was interrupted, or by another user.
  const session = await signIn(url, username, password)
  if (session === undefined) throw new Fault(ofAnotherFolder(username))
  const response = await session.get('/api/user/me')
  if (!response.ok) throw new Error(`the tracker does not know ${username}: ${await describe(response)}`)
  return ((await response.json()) as { passkey: string }).passkey
}

function ofAnotherFolder(username: string): string {
  return (
    `the tracker's database has a user "${username}" with another password: it belongs to another DATA_DIR; ` +
    'use that one, or a DATABASE_URL of its own'
  )
}

async function ensureTorrent(seed: TrackerSeed, session: TrackerSession): Promise<{ id: string; infoHash: string }> {
  const file = join(seed.dataDir, FILE)
  generateFile(file, FILE_BYTES)
  const torrent = torrentOf(file, `${seed.url}/announce`)
  const form = new FormData()
  form.set('torrent', new Blob([new Uint8Array(torrent)], { type: 'application/x-bittorrent' }), 'demo.torrent')
  form.set('name', TORRENT_NAME)
  form.set('category', CATEGORY)
  const response = await session.post('/api/torrents', form)
  if (response.status === 201) return pick((await response.json()) as Listed)
  const refusal = await describe(response)
  const known = response.status === 409 ? await findTorrent(session) : undefined
  if (known === undefined) throw new Error(`the tracker did not take the demo torrent: ${refusal}`)
  return known
}

interface Listed {
  id: string
  infoHash: string
  name: string
}

async function findTorrent(session: TrackerSession): Promise<{ id: string; infoHash: string } | undefined> {
  const response = await session.get('/api/torrents?limit=100')
  if (!response.ok) return undefined
  const { items } = (await response.json()) as { items: Listed[] }
  const found = items.find(({ name }) => name === TORRENT_NAME)
  return found && pick(found)
}

function pick({ id, infoHash }: Listed): { id: string; infoHash: string } {
  return { id, infoHash }
}
