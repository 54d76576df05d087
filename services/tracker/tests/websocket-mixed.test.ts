import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import fc from 'fast-check'
import { announce, percentBytes, rawGet } from './support/announcer.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './support/members.ts'
import { binary, connectSocket, type SocketClient } from './support/socket-client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const USERS = 3

let tracker: TestTracker
let uploader: TestMember
let torrents = 0
const passkeys: string[] = []

beforeAll(async () => {
  tracker = await startTracker({
    ALLOW_PRIVATE_PEERS: 'true',
    ANNOUNCE_LIMIT: '0',
    MIN_ANNOUNCE_INTERVAL: '1',
    ANNOUNCE_INTERVAL: '1800',
  })
  await tracker.context.useCases.categories.seed()
  uploader = await createMember(tracker, 'uploader')
  for (let i = 0; i < USERS; i++) passkeys.push((await createAnnouncer(tracker, `mixed-${String(i)}`)).passkey)
})
afterAll(() => tracker.stop())

type Role = 'leecher' | 'seeder'
type Step =
  | {
      readonly over: 'http' | 'socket'
      readonly user: number
      readonly client: number
      readonly role: Role | 'stopped'
    }
  | { readonly over: 'close'; readonly user: number; readonly client: number }

const user = fc.nat(USERS - 1)
const client = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      over: fc.constantFrom('http' as const, 'socket' as const),
      user,
      client,
      role: fc.constantFrom<Role | 'stopped'>('leecher', 'seeder', 'stopped'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ over: fc.constant('close' as const), user, client }) },
)

/** The expected state: the transports and the role of each client. */
type Peer = { http: boolean; socket: boolean; role: Role }

test('counts are the same over HTTP and sockets for clients of either or both', async () => {
  const run = async (steps: readonly Step[]): Promise<void> => {
    torrents += 1
    const { id, infoHash } = await uploadTorrent(uploader, `Mixed torrent ${String(torrents)}`)
    const model = new Map<string, Peer>()
    const sockets = new Map<string, SocketClient>()
    const counts = () => {
      const roles = [...model.values()].map(({ role }) => role)
      const complete = roles.filter((role) => role === 'seeder').length
      return { complete, incomplete: roles.length - complete }
    }
    const leave = (name: string, over: 'http' | 'socket'): void => {
      const peer = model.get(name)
      if (peer === undefined) return
      peer[over] = false
      if (!peer.http && !peer.socket) model.delete(name)
    }
    for (const each of steps) {
      const name = `-WW0102-${String(each.user)}${String(each.client)}${'x'.repeat(10)}`
      const passkey = passkeys[each.user]
      if (each.over === 'close') {
        await sockets.get(name)?.close()
        sockets.delete(name)
        leave(name, 'socket')
        // The tracker hears of it a moment later.
        await eventually(async () => (await scrape(infoHash)) === format(counts()))
        continue
      }
      const { over, role } = each
      // Both transports of a client report the same role, as real clients do.
      const known = model.get(name)
      const left = role === 'leecher' ? 1000 : 0
      if (role === 'stopped') leave(name, over)
      else model.set(name, { http: known?.http ?? false, socket: known?.socket ?? false, role, [over]: true })
      const event = role === 'stopped' ? 'stopped' : 'started'
      if (over === 'http') {
        const reply = await announce(tracker.url, passkey, {
          infoHash,
          peerId: name,
          left,
          event,
          port: 7000 + each.user,
        })
        expect(reply.fields).toMatchObject(counts())
      } else {
        const socket = sockets.get(name) ?? (await connectSocket(tracker.url, passkey, { peerId: name }))
        sockets.set(name, socket)
        // Again the same within a minute would be answered with the counts of then.
        tracker.advance(61_000)
        expect(await socket.announce(infoHash, { event, left })).toMatchObject(counts())
      }
    }
    expect(await scrape(infoHash)).toBe(format(counts()))
    const asked = await connectSocket(tracker.url, passkeys[0])
    const scraped = await asked.next(() => asked.send({ action: 'scrape', info_hash: binary(infoHash) }))
    expect(scraped['files']).toMatchObject({ [binary(infoHash)]: counts() })
    await eventually(async () => {
      // As the background task does every few seconds, after the counts have settled.
      await tracker.flush()
      tracker.advance(4_000)
      const { json } = await uploader.client.get(`/api/torrents/${id}`)
      const { seeders, leechers } = json as { seeders: number; leechers: number }
      return format({ complete: seeders, incomplete: leechers }) === format(counts())
    })
    await Promise.all([...sockets.values(), asked].map((socket) => socket.close()))
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), run), { numRuns: 5 })
})

async function scrape(infoHash: string): Promise<string> {
  const target = `/scrape?passkey=${passkeys[0] ?? ''}&info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`
  const text = (await rawGet(tracker.url, target)).bytes.toString('latin1')
  return /completei(\d+)e.*incompletei(\d+)e/.exec(text)?.slice(1).join('/') ?? text
}

function format({ complete, incomplete }: { complete: number; incomplete: number }): string {
  return `${String(complete)}/${String(incomplete)}`
}
