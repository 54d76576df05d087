import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import type { Schema } from '../src/database.ts'
import { createSecretStore } from '../src/secrets/secrets.store.ts'
import type { Caller } from './job.ts'

type Statement = { name: string; rowMode: 'array'; text: string; values: unknown[] }

/** The statement of one fetch as the vault's own store sends it, and its values. */
export async function statementOf(caller: Caller): Promise<{ config: Omit<Statement, 'values'>; values: unknown[] }> {
  const sent: Statement[] = []
  // Nothing connects: the only statement goes to the list.
  const idle = createPool({ url: 'postgres://127.0.0.1:1', name: 'bench', size: 1, logger: createLogger(SILENT) })
  const pool = Object.assign(idle, {
    query: (config: Statement) => {
      sent.push(config)
      return Promise.resolve({ rows: [] })
    },
  })
  const by = {
    ...caller,
    kind: 'project' as const,
    isWrite: false,
    generation: 1,
    scope: { access: 'read-write' as const, envs: null },
    actor: 'key:00',
    publicKey: Buffer.from(caller.publicKeyHex, 'hex'),
    address: '127.0.0.1',
  }
  const now = new Date()
  const entry = {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    action: 'fetch' as const,
    address: '127.0.0.1',
    actor: 'key:00',
    env: 'production',
    requestedAt: now,
    detail: null,
  }
  await createSecretStore(createKysely<Schema>(idle), pool, NEVER_ASKED, NO_LIMITS).readAll([
    { caller: by, env: 'production', now, entry },
  ])
  const [statement] = sent
  if (statement === undefined) throw new Error('the store sent nothing')
  const { values, ...config } = statement
  return { config, values }
}

const NO_LIMITS = { environmentBytes: Infinity, secrets: Infinity, environments: Infinity, versions: Infinity }

/** A fetch changes no environment. */
const NEVER_ASKED = {
  nextEnvironment: () => {
    throw new Error('a fetch changed an environment')
  },
}

const SILENT = { name: 'bench', level: 'silent' } as const
