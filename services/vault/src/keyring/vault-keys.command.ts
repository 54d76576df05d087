import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { systemClock } from '@vault-and-tracker/service-kit/clock'
import { EnvError } from '@vault-and-tracker/service-kit/env'
import { isError } from '@vault-and-tracker/service-kit/errors'
import { createLogger } from '@vault-and-tracker/service-kit/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres'
import { readCommandConfig, readCommandEnv } from '../config.ts'
import type { Db, Schema } from '../db/schema.ts'
import { createDataKeys } from './data-keys.ts'
import { checkKeyring } from './key-check.ts'
import { createDataKeyStore, createKekStore } from './keyring.store.ts'
import { KeyringError } from './keyring.ts'
import { activateInKeyringFile, addToKeyringFile, removeFromKeyringFile } from './keyring-file.ts'
import { createVaultKeyStore } from './vault-keys.store.ts'
import { createVaultKeys, type VaultKeys } from './vault-keys.ts'

const USAGE = `Usage:
  vault-keys status                    which keys there are and what each of them wraps
  vault-keys add ID                    add a new random key to the keyring file (made, if there is none)
  vault-keys activate ID               make it the one that wraps new data keys
  vault-keys rewrap                    wrap all data keys by the active key
  vault-keys renew [--older-than DAYS] new data keys, values encrypted again; default 365, 0 for all
  vault-keys retire ID [--remove]      mark a key that wraps nothing as retired; --remove takes it out of the file

To replace a key while the service runs: add, restart all replicas, activate, restart all replicas, rewrap, retire.
Each step may be run again; rewrap and renew go on where they were interrupted, and several at once share the work.
Backups made before need the keys of their time: keep a removed key as long as you keep them.
`

/** Wrong usage; the message says what to type. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Arguments = { id: string | undefined; olderThan: string | undefined; remove: boolean }

const COMMANDS: Readonly<Record<string, (args: Arguments) => Promise<unknown>>> = {
  status: () => withKeys((keys) => keys.status()),
  rewrap: () => withKeys((keys) => keys.rewrap()),
  renew: ({ olderThan = '365' }) => {
    if (!/^\d{1,5}$/.test(olderThan)) throw new UsageError('--older-than takes a number of days')
    return withKeys((keys) => keys.renew(Number(olderThan)))
  },
  add: async ({ id }) => {
    const own = required(id)
    const file = keyringFile()
    if (existsSync(file)) {
      await withKeys(async (_keys, db) => assertNew(own, db))
    } else {
      const { DATABASE_URL: url, LOG_LEVEL: level } = readCommandEnv(process.env)
      await withDatabase(url, level, (db) => assertNew(own, db))
    }
    const added = addToKeyringFile(file, own)
    await withKeys(() => Promise.resolve())
    return { id: own, added }
  },
  activate: async ({ id }) => {
    const own = required(id)
    await withKeys(async (keys) => {
      const kek = (await keys.status()).keks.find((known) => known.id === own)
      if (kek?.retired === true) throw new KeyringError([`key ${own} is retired`])
    })
    return { id: own, activated: activateInKeyringFile(keyringFile(), own) }
  },
  retire: async ({ id, remove }) => {
    const own = required(id)
    await withKeys((keys) => keys.retire(own))
    return { id: own, retired: true, removed: remove && removeFromKeyringFile(keyringFile(), own) }
  },
}

function required(id: string | undefined): string {
  if (id === undefined) throw new UsageError('name the key')
  return id
}

function keyringFile(): string {
  const { keyringFile: file } = readCommandEnv(process.env)
  if (file === undefined)
    throw new KeyringError(['the keyring is not in a file (VAULT_KEYRING_FILE): change VAULT_KEYRING yourself'])
  return file
}

/** An id that the database knows belongs to a key that is only missing here; a new one under its name would be wrong. */
async function assertNew(id: string, db: Db): Promise<void> {
  const known = (await createKekStore(db).list()).find((kek) => kek.id === id)
  const own = existsSync(keyringFile()) ? readCommandConfig(process.env).keyring.keys.get(id) : undefined
  if (known !== undefined && own === undefined)
    throw new KeyringError([`the database knows another key ${id} (fingerprint ${known.fingerprint}); choose a new id`])
}

/** Runs with the keyring checked against the database, as the service does when it starts. */
async function withKeys<T>(work: (keys: VaultKeys, db: Db) => Promise<T>): Promise<T> {
  const { DATABASE_URL: url, LOG_LEVEL: level, keyring } = readCommandConfig(process.env)
  return withDatabase(url, level, async (db) => {
    const clock = systemClock
    await checkKeyring({ keyring, store: createKekStore(db), clock })
    const dataKeys = createDataKeys({ keyring, store: createDataKeyStore(db), clock })
    return work(createVaultKeys({ keyring, store: createVaultKeyStore(db), dataKeys, clock }), db)
  })
}

async function withDatabase<T>(url: string, level: string, work: (db: Db) => Promise<T>): Promise<T> {
  const logger = createLogger({ name: 'vault-keys', level })
  const db = createKysely<Schema>(createPool({ url, name: 'vault-keys', size: 2, logger, statementTimeoutMs: 60_000 }))
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'older-than': { type: 'string' }, remove: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return
  }
  const [verb = '', id, ...rest] = positionals
  const command = Object.hasOwn(COMMANDS, verb) ? COMMANDS[verb] : undefined
  if (command === undefined || rest.length > 0) throw new UsageError('say what to do')
  const result = await command({ id, olderThan: values['older-than'], remove: values.remove === true })
  process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
}

main().catch((error: unknown) => {
  const message = isError(error) ? error.message : 'unknown error'
  const isUsage = error instanceof UsageError || error instanceof TypeError
  process.stderr.write(
    isUsage ? `${message}\n\n${USAGE}` : `${error instanceof EnvError ? '' : 'vault-keys: '}${message}\n`,
  )
  process.exitCode = isUsage ? 2 : 1
})
