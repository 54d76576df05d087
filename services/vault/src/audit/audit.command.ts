import { parseArgs } from 'node:util'
import { systemClock } from '@vault-and-tracker/service-kit/clock'
import { connectionUrl, EnvError, parseEnv } from '@vault-and-tracker/service-kit/env'
import { isError } from '@vault-and-tracker/service-kit/errors'
import { createLogger } from '@vault-and-tracker/service-kit/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres'
import { z } from 'zod'
import { readCommandConfig, readKeyringConfig } from '../config.ts'
import type { Schema } from '../db/schema.ts'
import { createChainKeys } from '../keyring/chain-keys.ts'
import { createChainKeyStore } from '../keyring/keyring.store.ts'
import { pruneAudit } from './prune.store.ts'
import { createVerificationStore } from './seals.store.ts'
import { verifyAudit } from './verification.ts'

const USAGE = `Usage:
  audit verify [--expect SEAL:CODE]   recompute the chain of the whole log; exit status 1 names the first broken row
  audit prune --before YYYY-MM        drop the months before; runs as the owner, see MIGRATION_DATABASE_URL

Both read the keyring like the service does, and verify DATABASE_URL too. --expect takes a line that the service logged: the
chain must still contain that seal.
`

/** Wrong usage; the message says what to type. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

async function verify(expect: string | undefined): Promise<number> {
  const noted = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(expect ?? '')
  if (expect !== undefined && noted === null) throw new UsageError('--expect takes a seal and its code, like 12:9f86…')
  const config = readCommandConfig(process.env)
  const logger = createLogger({ name: 'audit', level: config.LOG_LEVEL })
  const pool = createPool({ url: config.DATABASE_URL, name: 'audit', size: 2, logger, statementTimeoutMs: 600_000 })
  const db = createKysely<Schema>(pool)
  try {
    const keys = createChainKeys({ keyring: config.keyring, store: createChainKeyStore(db), clock: systemClock })
    const verdict = await verifyAudit(
      { store: createVerificationStore(db), keyOf: (keyNo) => keys.byNumber(keyNo) },
      noted === null ? undefined : { sealNo: Number(noted[1]), code: noted[2] ?? '' },
    )
    process.stdout.write(`${JSON.stringify(verdict)}\n`)
    return verdict.intact ? 0 : 1
  } finally {
    await db.destroy()
  }
}

async function prune(before: string | undefined): Promise<number> {
  if (before === undefined || !/^\d{4}-(0[1-9]|1[0-2])$/.test(before))
    throw new UsageError('--before takes a month, like 2027-01')
  const env = parseEnv(z.object({ MIGRATION_DATABASE_URL: connectionUrl('postgres', 'postgresql') }), process.env)
  const keyring = readKeyringConfig(process.env)
  const logger = createLogger({ name: 'audit', level: 'warn' })
  const pool = createPool({
    url: env.MIGRATION_DATABASE_URL,
    name: 'audit',
    size: 1,
    logger,
    statementTimeoutMs: 600_000,
  })
  const db = createKysely<Schema>(pool)
  try {
    const keys = createChainKeys({ keyring, store: createChainKeyStore(db), clock: systemClock })
    const months = await pruneAudit(db, await keys.current(), before, new Date(systemClock.now()))
    process.stdout.write(`${JSON.stringify({ dropped: months })}\n`)
    return 0
  } finally {
    await db.destroy()
  }
}

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { expect: { type: 'string' }, before: { type: 'string' }, help: { type: 'boolean' } },
  })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  if (positionals.length === 1 && positionals[0] === 'verify') return verify(values.expect)
  if (positionals.length === 1 && positionals[0] === 'prune') return prune(values.before)
  throw new UsageError('say verify or prune')
}

main().then(
  (status) => {
    process.exitCode = status
  },
  (error: unknown) => {
    const message = isError(error) ? error.message : 'unknown error'
    const isUsage = error instanceof UsageError || error instanceof TypeError
    process.stderr.write(
      isUsage ? `${message}\n\n${USAGE}` : `${error instanceof EnvError ? '' : 'audit: '}${message}\n`,
    )
    process.exitCode = 2
  },
)
