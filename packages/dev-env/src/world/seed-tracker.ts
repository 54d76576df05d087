import { join } from 'node:path'
import { capture, Fault } from '../processes/command.mjs'
import { generateFile, torrentOf } from './demo-torrent.ts'
import { bytesOf, type Call, callerWith, jsonOf, signIn, uploadTorrent } from './http.ts'
import { runServiceCommand, type Service, sourceArguments } from './services.ts'
import type { DemoSwarm, DemoUser, StateFile } from './state.ts'

const FILE = join('demo', 'vault-and-tracker-demo.bin')
const FILE_BYTES = 4 * 1024 * 1024
const TORRENT = { name: 'Vault and Tracker demo file', category: 'software' }

type TrackerSeed = {
  service: Service
  dataDir: string
  url: string
  file: StateFile
  /** The user that `createAdministrator` has just created. */
  created: DemoUser | undefined
  say: (text: string) => void
}

/**
 * Creates the administrator of a new demo before the tracker starts, because it asks for one in its log if there is none.
 *
 * @returns the administrator; undefined if the demo is older, or the name is taken
 */
export async function createAdministrator({ service, file }: Pick<TrackerSeed, 'service' | 'file'>) {
  const admin = file.state.tracker.users.find(({ role }) => role === 'admin')
  if (admin === undefined || admin.passkey !== undefined) return undefined
  const passkey = await createUser(service, admin)
  if (passkey === undefined) return undefined
  admin.passkey = passkey
  file.save()
  return admin
}

/** Creates users, categories, a torrent with content, and a community with a past, if they are missing. */
export async function seedTracker(seed: TrackerSeed): Promise<void> {
  const { state, save } = seed.file
  if (await isSeeded(seed)) return
  const admin = state.tracker.users.find(({ role }) => role === 'admin')
  if (admin === undefined) throw new Error('the demo has no administrator')
  let cookie: string | undefined
  if (admin.isChanged !== true) {
    for (const user of state.tracker.users) if (user !== seed.created) user.passkey = await ensureUser(seed, user)
    cookie = await signIn(seed.url, admin.username, admin.password)
    admin.isChanged = cookie === undefined
    save()
  }
  if (cookie === undefined) {
    seed.say(`The tracker's user ${admin.username} has a new password. Use that instead of the one below.`)
    return
  }
  const call = callerWith(seed.url, cookie)
  const categories = await call('POST', '/api/admin/categories/seed')
  if (categories.status === 403) {
    seed.say(`The tracker's user ${admin.username} is no longer an administrator, so no demo data was added.`)
    return
  }
  // 409 means that there are categories.
  if (categories.status !== 409) await bytesOf(categories)
  state.tracker.torrent = await ensureTorrent(seed, call)
  state.tracker.swarms ??= await seedCommunity(seed.service)
  state.tracker.cookie = cookie
  save()
}

/** Whether the demo data is complete. One request is enough, which keeps starts short. */
async function isSeeded({ url, file }: TrackerSeed): Promise<boolean> {
  const { users, torrent, swarms, cookie } = file.state.tracker
  if (
    torrent === undefined ||
    swarms === undefined ||
    cookie === undefined ||
    users.some(({ passkey }) => passkey === undefined)
  )
    return false
  const response = await callerWith(url, cookie)('GET', `/api/torrents/${torrent.id}`)
  await response.body?.cancel()
  return response.ok
}

/** Fills the tracker with other members and their torrents. The script is not a part of the compiled service. */
async function seedCommunity({ code: { root }, env }: Service): Promise<readonly DemoSwarm[]> {
  const args = sourceArguments(join(root, 'services/tracker/demo/seed.ts'))
  const seeded = await capture(process.execPath, args, { env: { PATH: process.env['PATH'], TZ: 'UTC', ...env } })
  if (seeded.code !== 0) throw new Error(`the demo of the tracker was not created:\n${seeded.output}`)
  return JSON.parse(seeded.stdout) as DemoSwarm[]
}

/** @returns the passkey; undefined if the name is taken */
async function createUser(service: Service, { username, email, role, password }: DemoUser) {
  const args = ['create', '--username', username, '--email', email, '--role', role, '--password-stdin']
  const { DATABASE_URL = '', REDIS_URL = '' } = service.env
  const users = { ...service, env: { DATABASE_URL, REDIS_URL } }
  const created = await runServiceCommand(users, 'commands/users.command', args, password)
  if (created.code === 0) return (JSON.parse(created.stdout) as { passkey: string }).passkey
  if (created.code !== 2) throw new Error(`the tracker did not create the user ${username}:\n${created.output}`)
  return undefined
}

/** Returns the passkey. */
async function ensureUser({ service, url }: TrackerSeed, user: DemoUser): Promise<string> {
  const { username, password } = user
  const passkey = (await createUser(service, user)) ?? user.passkey
  if (passkey !== undefined) return passkey
  // The name is taken by an earlier start that was interrupted, or by another user.
  const cookie = await signIn(url, username, password)
  if (cookie === undefined) throw new Fault(ofAnotherFolder(username))
  const account = (await jsonOf(await callerWith(url, cookie)('GET', '/api/user/me'))) as { passkey: string }
  return account.passkey
}

function ofAnotherFolder(username: string): string {
  return (
    `The tracker's database has a user "${username}" with another password, so it belongs to another DATA_DIR. ` +
    'Use that one, or another DATABASE_URL.'
  )
}

type Listed = { id: string; infoHash: string; name: string }

async function ensureTorrent({ dataDir, url }: TrackerSeed, call: Call): Promise<{ id: string; infoHash: string }> {
  const file = join(dataDir, FILE)
  generateFile(file, FILE_BYTES)
  const uploaded = await uploadTorrent(call, torrentOf(file, `${url}/announce`), TORRENT)
  const known = uploaded.status === 409 ? await findTorrent(call) : undefined
  const { id, infoHash } = known ?? ((await jsonOf(uploaded)) as Listed)
  return { id, infoHash }
}

async function findTorrent(call: Call): Promise<Listed | undefined> {
  const { items } = (await jsonOf(await call('GET', '/api/torrents?limit=100'))) as { items: Listed[] }
  return items.find(({ name }) => name === TORRENT.name)
}
