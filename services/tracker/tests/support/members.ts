import type { Client } from './client.ts'
import { makeTorrent } from './make-torrent.ts'
import type { TestTracker } from './tracker.ts'

/** A user who announces. */
export type TestMember = {
  readonly username: string
  readonly client: Client
  readonly passkey: string
  readonly id: string
}

/** Creates a user and signs in. */
export async function createMember(tracker: TestTracker, username: string, role?: 'admin'): Promise<TestMember> {
  const client = await tracker.signedIn(username, role)
  const me = await client.get('/api/user/me')
  return { username, client, passkey: me.member('passkey'), id: me.member('id') }
}

/** Creates a user who only announces, and so need not sign in. */
export function createAnnouncer(
  tracker: TestTracker,
  username: string,
): Promise<{ readonly id: string; readonly passkey: string }> {
  return tracker.createUser(username)
}

/** Uploads a torrent and returns its id and info hash. */
export async function uploadTorrent(
  uploader: TestMember,
  name: string,
): Promise<{ readonly id: string; readonly infoHash: string }> {
  const uploaded = await uploader.client.upload(makeTorrent(name), { category: 'tv-hd' })
  return { id: uploaded.member('id'), infoHash: uploaded.member('infoHash') }
}
