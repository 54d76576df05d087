import { commonEnv, parseEnv } from '@vault-and-tracker/service-kit/config/env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import {
  type Command,
  defineAction,
  flag,
  option,
  runIfMain,
  type Terminal,
} from '@vault-and-tracker/service-kit/lifecycle/command'
import { type CommandDatabase, withDatabase } from '@vault-and-tracker/service-kit/postgres/pool'
import { z } from 'zod'
import { readCommandConfig, readKeyringConfig } from '../config.ts'
import { openKeyring } from '../context/keyring.ts'
import type { Db } from '../database.ts'
import { createVerificationStore } from '../integrity/chain.store.ts'
import { createRetentionStore } from '../integrity/retention.store.ts'
import { pruneAudit } from '../integrity/retention.ts'
import { verifyAudit } from '../integrity/verification.ts'
import { createChainKeys } from '../keyring/chain-keys.ts'
import { createChainKeyStore } from '../keyring/keyring.store.ts'

/** Long, because verification reads the whole log. */
const STATEMENT_TIMEOUT_MS = 600_000

const seal = z
  .string()
  .regex(/^[1-9][0-9]{0,14}:[0-9a-f]{64}$/, 'must be a seal and its code, such as 12:9f86…')
  .transform((text) => {
    const [sealNo, code = ''] = text.split(':')
    return { sealNo: Number(sealNo), code }
  })

const verify = defineAction({
  summary: 'Verify the hash chain of the whole log',
  inputs: { expect: option('SEAL:CODE', seal.optional().describe('Seal that the chain must contain')) },
  run: ({ expect }, { env, stdout, stderr }) => {
    const { DATABASE_URL: url, LOG_LEVEL: level, ...settings } = readCommandConfig(env)
    return withDatabase(databaseOf(url, level, stderr), async (db: Db) => {
      const keyring = await openKeyring(settings)
      const keys = createChainKeys({ keyring, store: createChainKeyStore(db), clock: systemClock })
      const store = createVerificationStore(db)
      const verdict = await verifyAudit({ store, key: await keys.first() }, expect)
      stdout.write(`${JSON.stringify(verdict)}\n`)
      return verdict.intact ? 0 : 1
    })
  },
})

const prune = defineAction({
  summary: 'Delete all entries of earlier months',
  inputs: {
    before: option(
      'YYYY-MM',
      z
        .string()
        .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month, such as 2027-01')
        .describe('First month to keep'),
    ),
    'include-current': flag().describe('Also delete the current month, if it is earlier'),
  },
  run: ({ before, 'include-current': includeCurrent }, { env, stdout, stderr }) => {
    const schema = z.object({ MIGRATION_DATABASE_URL: commonEnv.DATABASE_URL })
    const { MIGRATION_DATABASE_URL: url } = parseEnv(schema, env)
    const settings = readKeyringConfig(env)
    return withDatabase(databaseOf(url, 'warn', stderr), async (db: Db) => {
      const keyring = await openKeyring(settings)
      const keys = createChainKeys({ keyring, store: createChainKeyStore(db), clock: systemClock })
      const deps = { store: createRetentionStore(db), chainKey: await keys.current(), clock: systemClock }
      stdout.write(`${JSON.stringify({ dropped: await pruneAudit(deps, before, { includeCurrent }) })}\n`)
      return 0
    })
  },
})

function databaseOf(url: string, level: string, destination: Terminal['stderr']): CommandDatabase {
  return { url, name: 'audit', level, destination, statementTimeoutMs: STATEMENT_TIMEOUT_MS }
}

/** Verifies and prunes the audit log. Status 1 means a broken chain, so that jobs can distinguish it from a failure. */
export const auditCommand: Command = {
  name: 'audit',
  actions: { verify, prune },
  notes: `Both subcommands read the keyring like the service. verify also reads DATABASE_URL; prune reads
MIGRATION_DATABASE_URL and connects as the owner of the database. The service logs the end of the chain as sealNo
and code: --expect SEAL:CODE proves that no entry up to there was deleted or replaced.

Exit codes: 0 success, the chain is intact; 1 the chain is broken, and the output names the first row that does not
match; 2 incorrect usage, or the command failed.`,
  exitStatus: () => 2,
}

await runIfMain(import.meta, auditCommand)
