import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import {
  type Command,
  defineAction,
  option,
  runIfMain,
  type Terminal,
} from '@vault-and-tracker/service-kit/lifecycle/command'
import { withDatabase } from '@vault-and-tracker/service-kit/postgres/pool'
import { z } from 'zod'
import { PROJECT_NAME } from '../access/names.ts'
import { readCommandConfig } from '../config.ts'
import { openKeyring } from '../context/keyring.ts'
import type { Db } from '../database.ts'
import { createRowStore } from '../integrity/row-verification.store.ts'
import { createRowVerification, type RowVerification } from '../integrity/row-verification.ts'
import { createAuthenticRows } from '../integrity/rows.ts'
import { createChainKeys } from '../keyring/chain-keys.ts'
import { createDataKeys } from '../keyring/data-keys.ts'
import { checkKeyring } from '../keyring/key-check.ts'
import { createChainKeyStore, createDataKeyStore, createKekStore } from '../keyring/keyring.store.ts'

const verify = defineAction({
  summary: 'Verify all rows that control access, and decrypt every current value',
  inputs: {},
  run: (_input, terminal) =>
    withRows(terminal, async (rows) => {
      const problems = await rows.verify()
      print(terminal, { intact: problems.length === 0, problems })
      return problems.length === 0 ? 0 : 1
    }),
})

const authenticate = defineAction({
  summary: 'Authenticate the stored projects of an earlier release, and list them',
  inputs: {
    project: option(
      'NAME',
      z
        .string()
        .regex(PROJECT_NAME, 'must be the name of a project')
        .optional()
        .describe('Only this project, even if it is authenticated'),
    ),
  },
  run: ({ project }, terminal) =>
    withRows(terminal, async (rows) => {
      print(terminal, { authenticated: await rows.authenticate(project) })
      return 0
    }),
})

function withRows(
  { env, stderr: destination }: Terminal,
  work: (rows: RowVerification) => Promise<number>,
): Promise<number> {
  const { DATABASE_URL: url, LOG_LEVEL: level, ...keys } = readCommandConfig(env)
  const clock = systemClock
  return withDatabase({ url, name: 'rows', level, destination, statementTimeoutMs: 600_000 }, async (db: Db) => {
    const keyring = await openKeyring(keys)
    await checkKeyring({ keyring, store: createKekStore(db), clock })
    const chainKeys = createChainKeys({ keyring, store: createChainKeyStore(db), clock })
    const rows = createAuthenticRows(await chainKeys.first(), () => undefined)
    const dataKeys = createDataKeys({ keyring, store: createDataKeyStore(db), clock })
    return work(createRowVerification({ store: createRowStore(db), rows, dataKeys, clock }))
  })
}

function print({ stdout }: Terminal, result: object): void {
  stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
}

/** Verifies and authenticates the rows that control access. Status 1 means rows that are not authentic. */
export const rowsCommand: Command = {
  name: 'rows',
  actions: { verify, authenticate },
  notes: `Both subcommands read DATABASE_URL and the keyring like the service. authenticate --project NAME accepts all
changes in the rows of a project. Check its output for unexpected keys.

Exit codes: 0 success, every row is authentic; 1 a row is not authentic; 2 incorrect usage, or the command failed.`,
  exitStatus: () => 2,
}

await runIfMain(import.meta, rowsCommand)
