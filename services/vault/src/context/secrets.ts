import { createChainKeys } from '../keyring/chain-keys.ts'
import { createDataKeys } from '../keyring/data-keys.ts'
import { createChainKeyStore, createDataKeyStore } from '../keyring/keyring.store.ts'
import { createRowCodes } from '../keyring/row-codes.ts'
import { createAuthenticProjects, type RefusedTable } from '../projects/authentic-projects.ts'
import { createRefusedRowMetrics } from '../projects/projects.metrics.ts'
import { createProjectStore } from '../projects/projects.store.ts'
import { createProjects } from '../projects/projects.ts'
import { createBatchedFetch } from '../secrets/batched-fetch.ts'
import { createEnvironments } from '../secrets/environments.ts'
import { createProjectSecrets } from '../secrets/project-secrets.ts'
import { createDecryptionMetrics, createPendingFetchMetrics } from '../secrets/secrets.metrics.ts'
import { createSecretStore } from '../secrets/secrets.store.ts'
import { createSecrets } from '../secrets/secrets.ts'
import { createNonceStore } from '../signed-requests/nonces.redis.ts'
import { createSignedRequests, createSigningProjects } from '../signed-requests/signed-requests.ts'
import type { Connections } from './connections.ts'

/** Projects and secrets, joined. */
export type ProjectsAndSecrets = Awaited<ReturnType<typeof createProjectsAndSecrets>>

/** Joins projects, their secrets and the checks of their signed requests. */
export async function createProjectsAndSecrets({ config, pool, db, redis, clock, logger, metrics }: Connections) {
  const chainKeys = createChainKeys({ keyring: config.keyring, store: createChainKeyStore(db), clock })
  const codes = createRowCodes(await chainKeys.first())
  const refusedRows = createRefusedRowMetrics(metrics.registry)
  const onRefused = (table: RefusedTable, place: object) => {
    refusedRows.refused(table)
    logger.error({ table, ...place }, 'a stored row was not written by the vault: it is refused')
  }
  const authentic = createAuthenticProjects({ codes, onRefused })
  const environments = createEnvironments({ codes, onRefused })
  const dataKeys = createDataKeys({ keyring: config.keyring, store: createDataKeyStore(db), clock })
  const signingProjects = createSigningProjects({ read: (name) => projects.findWithVerifyKeys(name), clock })
  const onChange = (name: string) => signingProjects.forget(name)
  const projects = createProjects({ store: createProjectStore(db), authentic, dataKeys, clock, onChange })
  const decryption = createDecryptionMetrics(metrics.registry)
  const onDecryptionError = (error: unknown, place: object) => {
    decryption.failed()
    logger.error({ err: error, ...place }, 'a stored value does not decrypt')
  }
  const store = createSecretStore(db, pool, environments)
  const secrets = createSecrets({ store, dataKeys, clock, onDecryptionError })
  const signedRequests = createSignedRequests({ signingProjects, nonces: createNonceStore(redis), clock })
  const countPending = signedRequests.countPendingFetches
  createPendingFetchMetrics(metrics.registry, countPending)
  const fetch = createBatchedFetch({ store, decrypt: secrets.decrypt, environments, clock, countPending })
  return {
    useCases: {
      projects,
      /** What administrators do with secrets. */
      secrets,
      projectSecrets: createProjectSecrets({ secrets, fetch, confirm: signedRequests.confirm }),
    },
    signedRequests,
  }
}
