import { existsSync } from 'node:fs'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import {
  type Command,
  defineAction,
  flag,
  operand,
  option,
  runIfMain,
  type Terminal,
} from '@vault-and-tracker/service-kit/lifecycle/command'
import { type CommandDatabase, withDatabase } from '@vault-and-tracker/service-kit/postgres/pool'
import { z } from 'zod'
import { readCommandConfig, readCommandConfigWithoutKeyring } from '../config.ts'
import { openKeyring } from '../context/keyring.ts'
import type { Db } from '../database.ts'
import { createDataKeys } from '../keyring/data-keys.ts'
import { assertIdIsFree, checkKeyring } from '../keyring/key-check.ts'
import { createKeyRotationStore } from '../keyring/key-rotation.store.ts'
import { createKeyRotation, type KeyRotation } from '../keyring/key-rotation.ts'
import { activateInKeyringFile, addToKeyringFile, removeFromKeyringFile } from '../keyring/keyring.file.ts'
import { createDataKeyStore, createKekStore } from '../keyring/keyring.store.ts'
import { KeyringError } from '../keyring/keyring.ts'

const id = operand('ID', z.string())
const days = z.string().regex(/^\d{1,5}$/, 'must be a number of days')

const status = defineAction({
  summary: 'List the key-encryption keys and the number of keys that each wraps',
  inputs: {},
  run: (_input, terminal) => withRotation(terminal, async (rotation) => print(terminal, await rotation.status())),
})

const add = defineAction({
  summary: 'Add a new random key to the keyring file; create the file if it does not exist',
  inputs: { id },
  run: async (input, terminal) => {
    const file = keyringFile(terminal)
    if (existsSync(file)) {
      const { keyring } = readCommandConfig(terminal.env)
      await withRotation(terminal, async (_rotation, db) =>
        assertIdIsFree(input.id, keyring, await createKekStore(db).list()),
      )
    } else {
      const { DATABASE_URL: url, LOG_LEVEL: level } = readCommandConfigWithoutKeyring(terminal.env)
      await withDatabase(databaseOf(url, level, terminal), async (db: Db) =>
        assertIdIsFree(input.id, undefined, await createKekStore(db).list()),
      )
    }
    const added = addToKeyringFile(file, input.id)
    // Registers the key's fingerprint in the database.
    await withRotation(terminal, () => Promise.resolve())
    print(terminal, { id: input.id, added })
  },
})

const activate = defineAction({
  summary: 'Make a key the active one, which wraps new data keys',
  inputs: { id },
  run: async (input, terminal) => {
    await withRotation(terminal, (rotation) => rotation.assertNotRetired(input.id))
    print(terminal, { id: input.id, activated: activateInKeyringFile(keyringFile(terminal), input.id) })
  },
})

const rewrap = defineAction({
  summary: 'Wrap all data keys with the active key',
  inputs: {},
  run: (_input, terminal) => withRotation(terminal, async (rotation) => print(terminal, await rotation.rewrap())),
})

const renew = defineAction({
  summary: 'Replace old data keys and encrypt their values again',
  inputs: {
    'older-than': option(
      'DAYS',
      days.transform(Number).default(365).describe('Age in days (default: 365); 0 replaces all'),
    ),
  },
  run: ({ 'older-than': olderThan }, terminal) =>
    withRotation(terminal, async (rotation) => print(terminal, await rotation.renew(olderThan))),
})

const retire = defineAction({
  summary: 'Mark a key that wraps nothing as retired',
  inputs: { id, remove: flag().describe('Also remove it from the keyring file') },
  run: async (input, terminal) => {
    await withRotation(terminal, (rotation) => rotation.retire(input.id))
    const removed = input.remove && removeFromKeyringFile(keyringFile(terminal), input.id)
    print(terminal, { id: input.id, retired: true, removed })
  },
})

function keyringFile({ env }: Terminal): string {
  const { keyringFile: file } = readCommandConfigWithoutKeyring(env)
  if (file === undefined)
    throw new KeyringError(['VAULT_KEYRING_FILE is not set; commands cannot change the keyring in VAULT_KEYRING'])
  return file
}

/** Checks the keyring against the database, as the service does when it starts, and runs work. */
function withRotation<T>(terminal: Terminal, work: (rotation: KeyRotation, db: Db) => Promise<T>): Promise<T> {
  const { DATABASE_URL: url, LOG_LEVEL: level, ...settings } = readCommandConfig(terminal.env)
  const clock = systemClock
  return withDatabase(databaseOf(url, level, terminal), async (db: Db) => {
    const keyring = await openKeyring(settings)
    await checkKeyring({ keyring, store: createKekStore(db), clock })
    const dataKeys = createDataKeys({ keyring, store: createDataKeyStore(db), clock })
    return work(createKeyRotation({ keyring, store: createKeyRotationStore(db), dataKeys, clock }), db)
  })
}

function databaseOf(url: string, level: string, { stderr: destination }: Terminal): CommandDatabase {
  return { url, name: 'keyring', level, destination, statementTimeoutMs: 60_000 }
}

function print({ stdout }: Terminal, result: object): undefined {
  stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
}

/** Manages key-encryption keys and data keys. */
export const keyringCommand: Command = {
  name: 'keyring',
  actions: { status, add, activate, rewrap, renew, retire },
  notes: `To replace a key-encryption key while the service runs: add, restart all replicas, activate, restart all
replicas, rewrap, retire. You can repeat each step. rewrap and renew continue where they were interrupted, and
several of them at once share the work. A backup needs the keys of its time: keep a removed key as long as your
oldest backup.`,
}

await runIfMain(import.meta, keyringCommand)
