import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'

/** A demo user. The passkey is known once the tracker has created the account. */
export type DemoUser = {
  username: string
  email: string
  role: 'admin' | 'member'
  password: string
  passkey?: string
  /** Whether a start found that someone changed the password. Further attempts would reach the limit of sign-ins. */
  isChanged?: boolean
}

/** A torrent of the demo, and the passkeys of the members who seed and download it. */
export type DemoSwarm = {
  infoHash: string
  size: number
  seeders: readonly string[]
  leechers: readonly string[]
  /** What its data is generated from, and the SHA-1 of each piece in hex; absent if nobody has the data. */
  content?: { name: string; pieces: readonly string[] } | undefined
}

/** Generated values that stay the same as long as the data exists. */
export type WorldState = {
  /** The last ports of the private servers. */
  ports: { postgres?: number; redis?: number }
  /** Passwords of the database roles, by role. */
  passwords: Record<string, string>
  vault: { adminToken: string; project: string; privateKey: string; publicKey: string }
  tracker: {
    users: DemoUser[]
    torrent?: { id: string; infoHash: string }
    /** The swarms of the demo, once it is seeded. */
    swarms?: readonly DemoSwarm[]
    /** The administrator's session. Reusing it keeps starts below the tracker's limit of sign-ins. */
    cookie?: string
  }
}

export type StateFile = { state: WorldState; save: () => void }

/** Writes a file that only its owner may read. Readers see the old content or the new one. */
export function writePrivate(file: string, content: string): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, content, { mode: 0o600 })
  renameSync(draft, file)
}

/** The same for a value as JSON. */
export function writePrivateJson(file: string, value: unknown): void {
  writePrivate(file, `${JSON.stringify(value, undefined, 2)}\n`)
}

/** Reads the state of a data directory, or creates it. */
export function openState(dataDir: string): StateFile {
  const file = join(dataDir, 'state.json')
  const isNew = !existsSync(file)
  const state = isNew ? freshState() : (JSON.parse(readFileSync(file, 'utf8')) as WorldState)
  const save = (): void => writePrivateJson(file, state)
  if (isNew) save()
  return { state, save }
}

/** The password of a database role, generated when it is first needed. */
export function rolePassword({ state, save }: StateFile, role: string): string {
  const password = (state.passwords[role] ??= randomBytes(24).toString('hex'))
  save()
  return password
}

function freshState(): WorldState {
  const { privateJwk, publicKeyHex } = generateKeyPair()
  return {
    ports: {},
    passwords: {},
    vault: {
      adminToken: randomBytes(32).toString('hex'),
      project: 'demo',
      privateKey: privateJwk,
      publicKey: publicKeyHex,
    },
    tracker: { users: [demoUser('admin', 'admin'), demoUser('alice', 'member'), demoUser('bob', 'member')] },
  }
}

function demoUser(username: string, role: DemoUser['role']): DemoUser {
  // Short enough to type, and different in every installation.
  const password = `${username}-${randomBytes(6).toString('hex')}`
  return { username, email: `${username}@example.org`, role, password }
}
