import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readIfThere, writePrivate } from './private-file.ts'

/** A demo user. The passkey is known once the tracker has created the account. */
export interface DemoUser {
  username: string
  email: string
  role: 'admin' | 'member'
  password: string
  passkey?: string
}

/** What is generated once and has to stay the same as long as the data exists. */
export interface WorldState {
  /** Where the private servers listened last. */
  ports: { postgres?: number; redis?: number }
  /** Passwords of the database roles, by role. */
  passwords: Record<string, string>
  vault: { adminToken: string; project: string; privateKey: string; publicKey: string }
  tracker: {
    users: DemoUser[]
    torrent?: { id: string; infoHash: string }
    /** The administrator's session, so that a start need not sign in: the tracker limits sign-ins. */
    cookie?: string
  }
}

/** The state of a data directory: what is there, or a fresh one. */
export interface StateFile {
  state: WorldState
  save: () => void
}

/** Opens `state.json`, which only its owner can read. */
export function openState(dataDir: string): StateFile {
  const file = join(dataDir, 'state.json')
  const text = readIfThere(file)
  const state = text === undefined ? freshState() : (JSON.parse(text) as WorldState)
  const save = (): void => writePrivate(file, `${JSON.stringify(state, undefined, 2)}\n`)
  if (text === undefined) save()
  return { state, save }
}

/** The password of a database role, generated when it is first needed. */
export function rolePassword({ state, save }: StateFile, role: string): string {
  const known = state.passwords[role]
  if (known !== undefined) return known
  const password = randomBytes(24).toString('hex')
  state.passwords[role] = password
  save()
  return password
}

function freshState(): WorldState {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return {
    ports: {},
    passwords: {},
    vault: {
      adminToken: randomBytes(32).toString('hex'),
      project: 'demo',
      privateKey: JSON.stringify(jwk),
      publicKey: Buffer.from(jwk.x ?? '', 'base64url').toString('hex'),
    },
    tracker: { users: [demoUser('admin', 'admin'), demoUser('alice', 'member'), demoUser('bob', 'member')] },
  }
}

function demoUser(username: string, role: DemoUser['role']): DemoUser {
  // Short enough to type, and different in every installation.
  const password = `${username}-${randomBytes(6).toString('hex')}`
  return { username, email: `${username}@example.org`, role, password }
}
