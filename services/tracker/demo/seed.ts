import { createHash } from 'node:crypto'
import { SOURCE_ARGUMENTS } from '@vault-and-tracker/dev-env'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import type { Account, Role } from '../src/accounts/accounts.ts'
import { readConfig } from '../src/config.ts'
import { type Context, createContext } from '../src/context.ts'
import type { Schema } from '../src/db/schema.ts'
import { isApiError } from '../src/errors.ts'
import { DEMO_TORRENTS, type DemoUpload, WAITING_UPLOADS } from './catalogue.ts'
import { writeHistory } from './history.ts'
import { RULES } from './rules.ts'
import { torrentFile } from './torrent-file.ts'

// Fills the tracker of `npm start` with a month of a small community: members, uploads, moderation, transfers, Torznab
// requests. It calls the use cases at the times of the past, and writes what members did meanwhile to Postgres. A second run
// adds what an interrupted one left out. It prints, as JSON, the swarms that the clients of the demo join.

const DAY_MS = 86_400_000
const MEMBERS: readonly (readonly [username: string, role: Role, daysAgo: number])[] = [
  ['mira', 'moderator', 30],
  ['celluloid', 'member', 29],
  ['gutenberg', 'member', 28],
  ['shellac', 'member', 26],
  ['nitrate', 'member', 24],
  ['foxglove', 'member', 20],
  ['quill', 'member', 17],
  ['lantern', 'member', 12],
  ['orrery', 'member', 6],
]
/** The users that `npm start` creates, with passwords. */
const FIRST = ['admin', 'alice', 'bob'] as const

const config = readConfig(process.env)
const logger = createLogger({ name: 'demo', level: 'silent' })
const startedAt = Date.now()
let at = startedAt
const timesAgo = (days: number): void => {
  at = startedAt - days * DAY_MS
}
const context = await createContext({ config, logger, clock: { now: () => at }, nodeArguments: SOURCE_ARGUMENTS })
const db = createKysely<Schema>(createPool({ url: config.DATABASE_URL, name: 'demo', size: 2, logger }))
try {
  const users = await createMembers(context)
  await publishRules(context, users)
  await uploadAll(context, users)
  const swarms = await writeHistory(db, users, startedAt)
  process.stdout.write(JSON.stringify(swarms))
} finally {
  await db.destroy()
  await context.close()
}

type Users = readonly Account[]

async function createMembers({ useCases: { accounts } }: Context): Promise<Users> {
  for (const [username, role, daysAgo] of MEMBERS) {
    timesAgo(daysAgo)
    const password = createHash('sha256').update(`${startedAt} ${username} ${Math.random()}`).digest('hex')
    await unlessThere(() => accounts.create({ username, email: `${username}@example.org`, password, role }))
  }
  return Promise.all([...FIRST, ...MEMBERS.map(([name]) => name)].map((name) => accounts.byUsername(name)))
}

async function publishRules({ useCases: { rules } }: Context, [admin, ...members]: Users): Promise<void> {
  if (admin === undefined) return
  timesAgo(27)
  await unlessThere(() => rules.publish(RULES, 0, admin.id))
  // Bob has not read them yet.
  for (const member of [admin, ...members.filter(({ username }) => username !== 'bob')])
    await unlessThere(() => rules.accept(member.id, 1))
}

async function uploadAll({ useCases: { torrents, siteConfiguration } }: Context, users: Users): Promise<void> {
  const [admin, ...others] = users
  const members = others.filter(({ role }) => role === 'member')
  const moderator = others.find(({ role }) => role === 'moderator')
  if (admin === undefined || moderator === undefined) return
  const upload = (by: Account, [name, category, mebibytes, description]: DemoUpload) =>
    unlessThere(() =>
      torrents.upload(by, {
        bytes: torrentFile(name, mebibytes * 2 ** 20),
        ...{ name, category, description, duplicateReason: null, refuseDuplicate: false },
        externalIds: { imdb: null, tmdb: null, tvdb: null },
        ...{ anonymous: false, internal: false, scene: false, nfo: null, mediaInfo: null },
      }),
    )
  for (const [index, [name, category, mebibytes, daysAgo, popularity, about]] of DEMO_TORRENTS.entries()) {
    timesAgo(daysAgo)
    const torrent = await upload(others[index % others.length] ?? admin, [name, category, mebibytes, about])
    if (torrent && popularity === 8) await torrents.edit(torrent.id, admin, { downloadPercent: 0 })
  }
  timesAgo(0.3)
  await siteConfiguration.change({ uploadApproval: 'manual' }, admin.id)
  for (const [index, demo] of WAITING_UPLOADS.entries()) {
    timesAgo(0.2 - index / 100)
    const [, , , , state, reason = null] = demo
    // Alice, as whom people sign in, receives the notices of the decisions.
    const torrent = await upload(members[state === undefined ? index : 0] ?? admin, demo)
    timesAgo(0.05)
    if (torrent && state !== undefined) await torrents.moderate(torrent.id, { state, reason }, moderator)
  }
  timesAgo(0)
  await siteConfiguration.change({ uploadApproval: null }, admin.id)
}

/** A second run finds what the first one created: then it returns undefined. */
async function unlessThere<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!isApiError(error) || error.code !== 'CONFLICT') throw error
    return undefined
  }
}
