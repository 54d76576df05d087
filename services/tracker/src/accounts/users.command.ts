import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '@vault-and-tracker/service-kit/clock'
import { connectionUrl, parseEnv } from '@vault-and-tracker/service-kit/env'
import { ApiError, errorCode, isError } from '@vault-and-tracker/service-kit/errors'
import { createLogger } from '@vault-and-tracker/service-kit/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres'
import { closeRedis, connectRedis } from '@vault-and-tracker/service-kit/redis'
import { z } from 'zod'
import type { Schema } from '../db/schema.ts'
import { createInvalidationPublisher } from '../invalidation/invalidation.redis.ts'
import { createAccountStore } from './accounts.store.ts'
import {
  ACCOUNT_STATES,
  type Account,
  type Accounts,
  createAccounts,
  PASSWORD_LENGTH,
  ROLES,
  USERNAME_PATTERN,
} from './accounts.ts'
import { createPasswords } from './passwords.argon2.ts'

const USAGE = `usage: users.command.js COMMAND, with DATABASE_URL and REDIS_URL set

  create --username NAME --email ADDRESS [--role ${ROLES.join('|')}] --password-stdin
  set-role --username NAME --role ${ROLES.join('|')}
  set-state --username NAME --state ${ACCOUNT_STATES.join('|')}
  reset-passkey --username NAME
  reset-password --username NAME --password-stdin
  list [--search TEXT]

Each user is answered as one line of JSON. Exit status: 0 done, 1 Postgres or Redis is away or not configured,
2 the arguments are wrong or the change is not possible.
`

const LIST_PAGE = 100

const options = {
  username: { type: 'string' },
  email: { type: 'string' },
  role: { type: 'string' },
  state: { type: 'string' },
  search: { type: 'string' },
  'password-stdin': { type: 'boolean' },
  help: { type: 'boolean' },
} as const

class UsageError extends Error {}

/** The process that the command runs in, as far as it is concerned. */
export type Terminal = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Carries out one command and returns the exit status. */
export async function usersCommand(terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal
  try {
    const { positionals, values } = parseArgs({ args: [...terminal.args], allowPositionals: true, options })
    if (values.help === true) {
      stdout.write(USAGE)
      return 0
    }
    const [command, ...rest] = positionals
    if (rest.length > 0) throw new UsageError('give one command')
    const request = { command, values, stdin: terminal.stdin, print: (line: object) => stdout.write(jsonLine(line)) }
    await withAccounts(terminal.env, (accounts) => carryOut(accounts, request))
    return 0
  } catch (error) {
    const message = isError(error) ? error.message : 'unknown error'
    if (error instanceof UsageError || isParseArgsError(error)) {
      stderr.write(`${message}\n\n${USAGE}`)
      return 2
    }
    stderr.write(`${message}\n`)
    return error instanceof ApiError && error.code !== 'UNAVAILABLE' ? 2 : 1
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { argv, env, stdin, stdout, stderr } = process
  process.exitCode = await usersCommand({ args: argv.slice(2), env, stdin, stdout, stderr })
}

function isParseArgsError(error: unknown): boolean {
  return errorCode(error)?.startsWith('ERR_PARSE_ARGS') === true
}

function jsonLine(line: object): string {
  return `${JSON.stringify(line)}\n`
}

async function withAccounts(environment: Terminal['env'], work: (accounts: Accounts) => Promise<void>): Promise<void> {
  const env = parseEnv(
    z.object({ DATABASE_URL: connectionUrl('postgres', 'postgresql'), REDIS_URL: connectionUrl('redis', 'rediss') }),
    environment,
  )
  const logger = createLogger({ name: 'tracker-users', level: 'silent' })
  const pool = createPool({ url: env.DATABASE_URL, name: 'tracker-users', size: 1, logger })
  const db = createKysely<Schema>(pool)
  try {
    const redis = await connectRedis({ url: env.REDIS_URL, name: 'tracker-users', logger })
    try {
      await work(
        createAccounts({
          store: createAccountStore(db),
          passwords: await createPasswords(),
          publish: createInvalidationPublisher(redis, logger),
          registration: 'closed',
          clock: systemClock,
        }),
      )
    } finally {
      await closeRedis(redis)
    }
  } finally {
    await db.destroy()
  }
}

type Values = Readonly<Record<string, string | boolean | undefined>>

type Request = {
  readonly command: string | undefined
  readonly values: Values
  readonly stdin: Readable
  readonly print: (line: object) => void
}

async function carryOut(accounts: Accounts, request: Request): Promise<void> {
  const { command, values, print } = request
  const named = async (): Promise<string> => (await accounts.byUsername(word(values, 'username'))).id
  if (command === 'create') {
    const account = await accounts.create({
      username: checked(values, 'username', USERNAME_PATTERN, '2 to 32 letters, digits, dots, dashes or underscores'),
      email: checked(values, 'email', /^[^\s@]+@[^\s@]+$/, 'an email address'),
      role: values['role'] === undefined ? 'member' : oneOf(values, 'role', ROLES),
      password: await passwordFrom(request),
    })
    print({ ...brief(account), passkey: account.passkey })
  } else if (command === 'set-role') {
    const role = oneOf(values, 'role', ROLES)
    print(brief(await accounts.change(await named(), { role })))
  } else if (command === 'set-state') {
    const state = oneOf(values, 'state', ACCOUNT_STATES)
    print({ ...brief(await accounts.change(await named(), { state })), state })
  } else if (command === 'reset-passkey') {
    const account = await accounts.resetPasskey(await named())
    print({ ...brief(account), passkey: account.passkey })
  } else if (command === 'reset-password') {
    const password = await passwordFrom(request)
    print(brief(await accounts.resetPassword(await named(), password)))
  } else if (command === 'list') {
    await list(accounts, request)
  } else {
    throw new UsageError(command === undefined ? 'give a command' : 'there is no such command')
  }
}

async function list(accounts: Accounts, { values, print }: Request): Promise<void> {
  const search = typeof values['search'] === 'string' ? values['search'] : undefined
  for (let page = 1; ; page++) {
    const { items, total } = await accounts.list({ search, page, limit: LIST_PAGE })
    for (const account of items) {
      const { email, state, createdAt, lastSeenAt } = account
      print({ ...brief(account), email, state, created: createdAt, lastSeen: lastSeenAt })
    }
    if (page * LIST_PAGE >= total) return
  }
}

function brief({ id, username, role }: Account) {
  return { id, username, role }
}

function word(values: Values, name: string): string {
  const value = values[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is required`)
  return value
}

function checked(values: Values, name: string, pattern: RegExp, what: string): string {
  const value = word(values, name)
  if (!pattern.test(value)) throw new UsageError(`--${name} must be ${what}`)
  return value
}

function oneOf<Value extends string>(values: Values, name: string, allowed: readonly Value[]): Value {
  const found = allowed.find((value) => value === values[name])
  if (found === undefined) throw new UsageError(`--${name} must be one of ${allowed.join(', ')}`)
  return found
}

/** The password, which never stands among the arguments where other users of the machine could read it. */
async function passwordFrom({ values, stdin }: Request): Promise<string> {
  if (values['password-stdin'] !== true) throw new UsageError('--password-stdin is required: pipe the password in')
  const password = (await text(stdin)).replace(/\r?\n$/, '')
  if (password.length < PASSWORD_LENGTH.min || password.length > PASSWORD_LENGTH.max)
    throw new UsageError(`the password must be ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters long`)
  return password
}
