import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import type { Scope } from '../src/tokens/scopes.ts'
import { writeAccounting } from './support/accounting.ts'
import { announce, percentBytes, rawGet } from './support/announcer.ts'
import { bearer, createToken } from './support/api-tokens.ts'
import { createClient } from './support/client.ts'
import { untilHeard } from './support/invalidations.ts'
import { createMember, type TestMember } from './support/members.ts'
import { connectSocket } from './support/socket-client.ts'
import { readError, readFeed, setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'
import type { TestTracker } from './support/tracker.ts'

let site: TorznabSite
let replica: TestTracker
let alice: TestMember
let torrent: { id: string; infoHash: string }

beforeAll(async () => {
  const env = { ALLOW_PRIVATE_PEERS: 'true', ANNOUNCE_LIMIT: '200', WS_SOCKETS_PER_ADDRESS: '3' }
  site = await startTorznabSite({ ...env, TRUSTED_PROXIES: '127.0.0.1' })
  replica = await site.tracker.replica()
  await setLimits(site.tracker)
  torrent = await site.upload('Keyed.Harbour.S01E01.1080p.WEB.x264-GRP')
})
afterAll(async () => {
  await replica.stop()
  await site.tracker.stop()
})

let members = 0
beforeEach(async () => {
  members += 1
  alice = await createMember(site.tracker, `alice-${String(members)}`)
})

const get = (path: string, headers?: Record<string, string>) =>
  createClient(replica.url).get(path.replace('http://tracker.test', ''), headers)
/** The key in the announce URL of a downloaded file, which has no other one. */
function keyIn({ status, bytes }: { status: number; bytes: Buffer }): string {
  const keys = [...bytes.toString('latin1').matchAll(/passkey=([0-9a-f]{40})/g)].map(([, key]) => key)
  if (status !== 200 || new Set(keys).size !== 1) throw new Error(`no key: ${String(status)}`)
  return keys[0] ?? ''
}
const download = (token: string) => get(`/api/torznab/download?id=${torrent.infoHash}&apikey=${token}`)
const linksOf = async (path: string) => (await readFeed(await get(path))).items.map(({ link }) => link)
const createKey = async (more: Record<string, unknown> = {}) => {
  const created = await createToken(alice.client, ['download'], more)
  return { ...created, key: keyIn(await download(created.token)) }
}
/** A feed of the only torrent, and the key of its files. */
async function createFeed(list: { savedSearch?: string; category?: string } = {}) {
  const created = await alice.client.post('/api/feed-tokens', { savedSearch: null, category: 'tv-hd', ...list })
  const [link = ''] = await linksOf(created.member('url'))
  return { id: created.member('id'), url: created.member('url'), link, key: keyIn(await get(link)) }
}
const announceAt = async (at: TestTracker, key: string, more: Record<string, string | number> = {}) => {
  const { fields } = await announce(at.url, key, { infoHash: torrent.infoHash, left: 0, ...more })
  return fields['failure reason'] ?? ('complete' in fields ? 'accepted' : 'nothing')
}

test('each token has a key of its own in its files, and session and passkey have the passkey', async () => {
  const scopes: readonly Scope[] = ['torznab', 'download', 'read']
  const { token } = await createToken(alice.client, scopes)
  const category = 'category=tv-hd'
  const [feedLink = ''] = await linksOf(`/api/feeds/rss?token=${token}&${category}`)
  const unit3d = (await get('/unit3d/api/torrents/filter', bearer(token))).json
  const { data } = unit3d as { data: [{ attributes: { download_link: string } }] }
  const ofToken = await Promise.all([
    download(token),
    get(`/api/torrents/${torrent.id}/download`, bearer(token)),
    get(feedLink),
    get(data[0].attributes.download_link),
  ])
  const keys = new Set(ofToken.map(keyIn))
  expect(keys.size).toBe(1)
  keys.add((await createKey()).key)
  keys.add((await createFeed()).key)
  expect(keys.size).toBe(3)
  expect(keys.has(alice.passkey)).toBe(false)
  for (const file of [await alice.client.get(`/api/torrents/${torrent.id}/download`), await download(alice.passkey)])
    expect(keyIn(file)).toBe(alice.passkey)
})

test('a key announces and scrapes as its member', async () => {
  const { key } = await createKey()
  expect(await announceAt(replica, key, { event: 'started' })).toBe('accepted')
  expect(await announceAt(site.tracker, key, { uploaded: 700, event: 'stopped' })).toBe('accepted')
  await writeAccounting(site.tracker)
  const [row] = await site.tracker.sql('select uploaded from users where id = $1', [alice.id])
  expect(row).toEqual({ uploaded: '700' })
  const query = `info_hash=${percentBytes(Buffer.from(torrent.infoHash, 'hex'))}`
  expect((await rawGet(replica.url, `/scrape?passkey=${key}&${query}`)).bytes.toString('latin1')).toContain('complete')
  const socket = await connectSocket(replica.url, key)
  expect(await socket.announce(torrent.infoHash)).toMatchObject({ complete: expect.any(Number) })
  await socket.close()
})

test('a key opens nothing else, even once announces have cached it', async () => {
  const keys = [(await createKey()).key, (await createFeed()).key]
  for (const key of keys) {
    for (const at of [site.tracker, replica]) expect(await announceAt(at, key)).toBe('accepted')
    for (const path of [`?t=search&apikey=${key}`, `/download?id=${torrent.infoHash}&apikey=${key}`])
      expect(readError(await get(`/api/torznab${path}`)).code).toBe(100)
    expect((await get(`/api/feeds/rss?token=${key}`)).status).toBe(401)
    expect((await get(`/api/feeds/download?id=${torrent.id}&token=${key}`)).status).toBe(401)
    for (const path of ['/api/torrents', '/unit3d/api/user']) expect((await get(path, bearer(key))).status).toBe(401)
    expect((await get(`/unit3d/api/user?api_token=${key}`)).status).toBe(401)
  }
})

describe('a key stops working in all processes', () => {
  let hosts = 0

  /** Accepted announces and open sockets before `end`, and neither after it. The passkey goes on, unless it is `ended`. */
  async function expectEnd(key: string, end: () => unknown, passkeyEnds = false): Promise<void> {
    const others = [keyIn(await alice.client.get(`/api/torrents/${torrent.id}/download`)), (await createKey()).key]
    const trackers = [site.tracker, replica]
    hosts += 1
    const from = { headers: { 'x-forwarded-for': `198.51.100.${String(hosts)}` } }
    const sockets = await Promise.all(trackers.map((at) => connectSocket(at.url, key, from)))
    for (const socket of sockets) expect(await socket.announce(torrent.infoHash)).not.toHaveProperty('failure reason')
    for (const at of trackers) for (const each of [key, ...others]) expect(await announceAt(at, each)).toBe('accepted')
    await end()
    await untilHeard(site.tracker.redisClient)
    for (const at of trackers) {
      expect(await announceAt(at, key)).toMatch(/^(Unknown passkey|.* is suspended)/)
      for (const each of others) if (!passkeyEnds) expect(await announceAt(at, each)).toBe('accepted')
    }
    await eventually(() => sockets.every((socket) => socket.closeCode() === 1008))
  }

  test('when its API token is revoked, by its member or by staff', async () => {
    const own = await createKey()
    await expectEnd(own.key, () => alice.client.delete(`/api/tokens/${own.id}`))
    const admin = await site.tracker.signedIn(`admin-${String(members)}`, 'admin')
    const other = await createKey()
    await expectEnd(other.key, () => admin.delete(`/api/admin/tokens/${other.id}`))
  })

  test('when its API token expires', async () => {
    const { key } = await createKey({ expires: new Date(site.tracker.now() + 3_600_000).toISOString() })
    await expectEnd(key, () => {
      for (const each of [site.tracker, replica]) each.advance(3_660_000)
    })
  })

  test('when its feed address is revoked, or its saved search or category is deleted', async () => {
    const revoked = await createFeed()
    await expectEnd(revoked.key, () => alice.client.delete(`/api/feed-tokens/${revoked.id}`))
    const saved = await alice.client.post('/api/saved-searches', { name: 'Keyed', filters: 'search=keyed' })
    const { key } = await createFeed({ savedSearch: saved.member('id'), category: null as never })
    await expectEnd(key, () => alice.client.delete(`/api/saved-searches/${saved.member('id')}`))
    const { categories } = site.tracker.context.useCases
    const maps = await categories.create({ slug: `maps-${String(members)}`, name: 'Maps', torznabId: 8010 })
    const ofCategory = await alice.client.post('/api/feed-tokens', { savedSearch: null, category: maps.slug })
    const moved = await site.upload(`Moved.${String(members)}.Map`, { category: maps.slug })
    const [link = ''] = await linksOf(ofCategory.member('url'))
    const keyOfCategory = keyIn(await get(link))
    await site.uploader.client.patch(`/api/torrents/${moved.id}`, { category: 'other' })
    await expectEnd(keyOfCategory, () => categories.remove(maps.id))
  })

  test('when its member is suspended, and works again with them', async () => {
    const { key } = await createKey()
    const { accounts } = site.tracker.context.useCases
    await expectEnd(key, () => accounts.change(alice.id, { state: 'suspended' }), true)
    await accounts.change(alice.id, { state: 'active' })
    await untilHeard(site.tracker.redisClient)
    expect([await announceAt(site.tracker, key), await announceAt(replica, key)]).toEqual(['accepted', 'accepted'])
  })

  test('when its member resets the passkey, unless they keep it', async () => {
    const kept = await createKey()
    expect((await alice.client.post('/api/user/passkey?keepAnnounceKeys=true')).status).toBe(200)
    await untilHeard(site.tracker.redisClient)
    expect(keyIn(await download(kept.token))).toBe(kept.key)
    await expectEnd(kept.key, () => alice.client.post('/api/user/passkey'), true)
    const renewed = keyIn(await download(kept.token))
    expect(renewed).not.toBe(kept.key)
    expect(await announceAt(replica, renewed)).toBe('accepted')
  })
})

test('concurrent first downloads of a token at two replicas have one key', async () => {
  const { token } = await createToken(alice.client, ['download'])
  const path = `/api/torznab/download?id=${torrent.infoHash}&apikey=${token}`
  const files = await Promise.all(
    Array.from({ length: 10 }, (_, i) => createClient(i % 2 === 0 ? replica.url : site.tracker.url).get(path)),
  )
  expect(new Set(files.map(keyIn)).size).toBe(1)
})

test('keys do not multiply the limits of their member', async () => {
  const keys = [alice.passkey, (await createKey()).key, (await createFeed()).key]
  const from = (host: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${String(host)}` } })
  const sockets = await Promise.all(keys.map((key, i) => connectSocket(replica.url, key, from(i))))
  for (const key of keys) await expect(connectSocket(replica.url, key, from(9))).rejects.toThrow('status 429')
  await sockets[0]?.close()
  const again = await connectSocket(replica.url, keys[2], from(9))
  for (const socket of [...sockets, again]) await socket.close()

  await site.tracker.context.useCases.accounts.change(alice.id, { announceLimit: 4 })
  await untilHeard(site.tracker.redisClient)
  const { infoHash } = await site.upload(`Limits.Harbour.S01E01.1080p.WEB.${String(members)}`)
  const warnings: unknown[] = []
  for (let i = 0; i < 6; i++) {
    const peerId = `-AA0001-limits00000${String(i)}`
    const { fields } = await announce(replica.url, keys[i % 3] ?? '', { infoHash, peerId, port: 7000 + i })
    warnings.push(fields['failure reason'] ?? fields['warning message'] ?? '')
  }
  expect(warnings.filter((text) => text === '')).toHaveLength(4)
})
