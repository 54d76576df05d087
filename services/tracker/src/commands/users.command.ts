import { text } from 'node:stream/consumers'
import { commonEnv, parseEnv } from '@vault-and-tracker/service-kit/config/env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import {
  type Command,
  defineAction,
  option,
  runIfMain,
  type Terminal,
  UsageError,
} from '@vault-and-tracker/service-kit/lifecycle/command'
import { withDatabase } from '@vault-and-tracker/service-kit/postgres/pool'
import { closeRedis, connectRedis } from '@vault-and-tracker/service-kit/redis/connection'
import { z } from 'zod'
import { createAccountStore } from '../accounts/accounts.store.ts'
import {
  ACCOUNT_STATES,
  type Account,
  type Accounts,
  createAccounts,
  PASSWORD_LENGTH,
  ROLES,
  USERNAME_PATTERN,
} from '../accounts/accounts.ts'
import { createPasswords } from '../accounts/passwords.argon2.ts'
import type { Db } from '../db/schema.ts'
import { createFactorStore } from '../factors/factors.store.ts'
import type { FactorStore } from '../factors/factors.ts'
import { createInvalidationPublisher } from '../invalidation/invalidation.redis.ts'

const LIST_PAGE = 100

const username = option('NAME', z.string())
const role = z.enum(ROLES, `must be one of ${ROLES.join(', ')}`)
/** Required, because the command has no prompt. */
const passwordStdin = z.literal(true).describe('Read the password from standard input')
const state = z.enum(ACCOUNT_STATES, `must be one of ${ACCOUNT_STATES.join(', ')}`)

const create = defineAction({
  summary: 'Create a user, with the password from standard input, and print the passkey',
  inputs: {
    username: option(
      'NAME',
      z.string().regex(USERNAME_PATTERN, 'must be 2 to 32 letters, digits, dots, dashes or underscores'),
    ),
    email: option('ADDRESS', z.string().regex(/^[^\s@]+@[^\s@]+$/, 'must be an email address')),
    role: option(ROLES.join('|'), role.default('member')),
    'password-stdin': passwordStdin,
  },
  run: async (input, terminal) => {
    const password = await readPassword(terminal)
    await withAccounts(terminal, async (accounts) => {
      const account = await accounts.create({ ...input, password })
      print(terminal, { ...present(account), passkey: account.passkey })
    })
  },
})

const setRole = defineAction({
  summary: 'Change the role of a user',
  inputs: { username, role: option(ROLES.join('|'), role) },
  run: (input, terminal) =>
    withAccounts(terminal, async (accounts) => {
      const { id } = await accounts.byUsername(input.username)
      print(terminal, present(await accounts.change(id, { role: input.role })))
    }),
})

const setState = defineAction({
  summary: 'Suspend, ban or reactivate a user',
  inputs: { username, state: option(ACCOUNT_STATES.join('|'), state) },
  run: (input, terminal) =>
    withAccounts(terminal, async (accounts) => {
      const { id } = await accounts.byUsername(input.username)
      const account = await accounts.change(id, { state: input.state })
      print(terminal, { ...present(account), state: account.state })
    }),
})

const resetPasskey = defineAction({
  summary: 'Reset the passkey of a user and print the new one',
  inputs: { username },
  run: (input, terminal) =>
    withAccounts(terminal, async (accounts) => {
      const { id } = await accounts.byUsername(input.username)
      const account = await accounts.resetPasskey(id)
      print(terminal, { ...present(account), passkey: account.passkey })
    }),
})

const resetPassword = defineAction({
  summary: 'Set a new password, read from standard input, and end all sessions of the user',
  inputs: { username, 'password-stdin': passwordStdin },
  run: async (input, terminal) => {
    const password = await readPassword(terminal)
    await withAccounts(terminal, async (accounts) => {
      const { id } = await accounts.byUsername(input.username)
      print(terminal, present(await accounts.resetPassword(id, password)))
    })
  },
})

const removeFactors = defineAction({
  summary: 'Remove all second factors of a user and end all their sessions',
  inputs: { username },
  run: (input, terminal) =>
    withAccounts(terminal, async (accounts, factors) => {
      const account = await accounts.byUsername(input.username)
      if (!(await factors.removeAll(account.id, new Date(), undefined)))
        throw new ApiError('CONFLICT', 'This user has no second factor.')
      print(terminal, present(account))
    }),
})

const list = defineAction({
  summary: 'List users, the newest first',
  inputs: { search: option('TEXT', z.string().optional().describe('Part of the name or email address')) },
  run: ({ search }, terminal) =>
    withAccounts(terminal, async (accounts) => {
      for (let page = 1; ; page++) {
        const { items } = await accounts.list({ search, page, limit: LIST_PAGE })
        for (const account of items) {
          const { email, state, createdAt, lastSeenAt } = account
          print(terminal, { ...present(account), email, state, created: createdAt, lastSeen: lastSeenAt })
        }
        if (items.length < LIST_PAGE) return
      }
    }),
})

/** Reads a password from standard input: as an argument, other users of the machine could read it. */
async function readPassword({ stdin }: Terminal): Promise<string> {
  const password = (await text(stdin)).replace(/\r?\n$/, '')
  if (password.length < PASSWORD_LENGTH.min || password.length > PASSWORD_LENGTH.max)
    throw new UsageError(`the password must be ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters long`)
  return password
}

async function withAccounts(
  terminal: Terminal,
  work: (accounts: Accounts, factors: FactorStore) => Promise<void>,
): Promise<undefined> {
  const env = parseEnv(z.object({ DATABASE_URL: commonEnv.DATABASE_URL, REDIS_URL: commonEnv.REDIS_URL }), terminal.env)
  const name = 'tracker-users'
  const database = { url: env.DATABASE_URL, name, level: 'silent', destination: terminal.stderr }
  await withDatabase(database, async (db: Db, logger) => {
    const redis = await connectRedis({ url: env.REDIS_URL, name, logger })
    try {
      await work(
        createAccounts({
          store: createAccountStore(db, systemClock),
          passwords: await createPasswords(),
          publish: createInvalidationPublisher(redis, logger),
          registration: () => Promise.resolve('closed'),
          clock: systemClock,
        }),
        createFactorStore(db),
      )
    } finally {
      await closeRedis(redis)
    }
  })
}

function present({ id, username, role }: Account) {
  return { id, username, role }
}

function print({ stdout }: Terminal, line: object): void {
  stdout.write(`${JSON.stringify(line)}\n`)
}

/** Manages users without a session: the first administrator, and passwords and second factors that were lost. */
export const usersCommand: Command = {
  name: 'users',
  actions: {
    create,
    'set-role': setRole,
    'set-state': setState,
    'reset-passkey': resetPasskey,
    'reset-password': resetPassword,
    'remove-factors': removeFactors,
    list,
  },
  notes: `Reads DATABASE_URL and REDIS_URL. Prints each user as a line of JSON.

Exit codes: 0 success; 1 Postgres or Redis is unavailable or not configured; 2 incorrect usage, or the change is not
possible, for example because the name is taken.`,
  exitStatus: (error) => (error instanceof ApiError && error.code !== 'UNAVAILABLE' ? 2 : 1),
}

await runIfMain(import.meta, usersCommand)
