import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { eventually, type TestDatabase, withClient } from '@vault-and-tracker/dev-env'
import { announce } from './announcer.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from './members.ts'
import { startTracker } from './tracker.ts'

const MEMBERS = 6

type Member = { readonly id: string; readonly passkey: string }
/** A client of a member, with its reported totals. */
type Client = { readonly member: Member; readonly infoHash: string; readonly port: number; up: number; down: number }

/** Bytes by user, and by user and number of torrents. */
type Totals = readonly { readonly name: string; readonly up: string; readonly down: string }[]

/** Clients of several members that report transfers, and what was credited for them. */
export type Transfers = {
  readonly uploader: TestMember
  /** Reports transfers until `isOver`, through the tracker at `url`. @param onAnswer called with the outcome of each announce */
  run(url: string, isOver: () => boolean, onAnswer?: (isAccepted: boolean) => void): Promise<void>
  /** Waits until everything that was reported is credited, or for half a minute. */
  settled(): Promise<{ reported: Totals; credited: Totals }>
}

/** Creates two torrents and six members with a client for each of them. */
export async function createTransfers(stores: { database: TestDatabase; redisUrl: string }): Promise<Transfers> {
  const world = await startTracker({}, stores)
  await world.context.useCases.categories.seed()
  const uploader = await createMember(world, 'uploader')
  const hashes = [
    await uploadTorrent(uploader, 'First of the faults'),
    await uploadTorrent(uploader, 'Second of the faults'),
  ]
  const members: Member[] = []
  const clients: Client[] = []
  for (let i = 0; i < MEMBERS; i += 1) {
    const member = await createAnnouncer(world, `reporting-${String(i)}`)
    members.push(member)
    for (const [at, { infoHash }] of hashes.entries())
      clients.push({ member, infoHash, port: 7_000 + 2 * i + at, up: 0, down: 0 })
  }
  await world.stop()
  return {
    uploader,
    run: async (url, isOver, onAnswer = () => undefined) => {
      const reporter = createReporter(url, onAnswer)
      await Promise.all(clients.map((client) => reporter(client, 'started')))
      await Promise.all(clients.map((client) => live(client, reporter, isOver)))
    },
    settled: async () => {
      const reported = sorted(
        members.flatMap(({ id }) =>
          totalsOf(
            clients.filter(({ member }) => member.id === id),
            id,
          ),
        ),
      )
      const credited = async () => sorted(await creditedTo(stores.database.adminUrl, members))
      // The caller compares, which shows the difference.
      await eventually(async () => isDeepStrictEqual(await credited(), reported), 30_000, 500).catch(() => undefined)
      return { reported, credited: await credited() }
    },
  }
}

type Reporter = (client: Client, event?: 'started') => Promise<void>

/** As a client does: until there is an answer that is no failure, the same again. */
function createReporter(url: string, onAnswer: (isAccepted: boolean) => void): Reporter {
  return async ({ member, infoHash, port, up, down }, event) => {
    const parameters = { infoHash, port, uploaded: up, downloaded: down, ...(event && { event }) }
    const peerId = `-KL0001-${String(port).padStart(12, '0')}`
    for (;;) {
      const reply = await announce(url, member.passkey, { ...parameters, peerId }).catch(() => undefined)
      const isAccepted =
        reply !== undefined && 'interval' in reply.fields && reply.fields['failure reason'] === undefined
      onAnswer(isAccepted)
      if (isAccepted) return
      await sleep(100)
    }
  }
}

/** Reports a transfer every second until it is stopped. */
async function live(client: Client, report: Reporter, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    client.up += Math.floor(Math.random() * 1_000_000)
    client.down += Math.floor(Math.random() * 100_000)
    await report(client)
    await sleep(1_000)
  }
}

function totalsOf(own: readonly Client[], id: string): Totals {
  const [up, down] = [own.reduce((sum, each) => sum + each.up, 0), own.reduce((sum, each) => sum + each.down, 0)]
  const totals = { up: String(up), down: String(down) }
  return [
    { name: id, ...totals },
    { name: `${id} ${String(own.length)}`, ...totals },
  ]
}

/** As Postgres has them. */
function creditedTo(adminUrl: string, members: readonly Member[]): Promise<Totals> {
  return withClient(adminUrl, async (client) => {
    const found = await client.query<Totals[number]>(
      `select id::text as name, uploaded_actual::text as up, downloaded::text as down from users where id = any($1)
       union all
       select user_id || ' ' || sum(1)::text, sum(uploaded_actual)::text, sum(downloaded_actual)::text from user_torrents
       where user_id = any($1) group by user_id`,
      [members.map(({ id }) => id)],
    )
    return found.rows
  })
}

const sorted = (rows: Totals): Totals => rows.toSorted((a, b) => a.name.localeCompare(b.name))
