import { createAdministratorStore } from '../admin/administrators.store.ts'
import { createAdministrators } from '../admin/administrators.ts'
import { createDataKeys } from '../keyring/data-keys.ts'
import { createDataKeyStore } from '../keyring/keyring.store.ts'
import { createRowCodes } from '../keyring/row-codes.ts'
import { createWriteTurns } from '../limits/write-turns.ts'
import { createAuthenticProjects } from '../projects/authentic-projects.ts'
import { createKeyUseStore } from '../projects/key-uses.store.ts'
import { createKeyUses } from '../projects/key-uses.ts'
import { createProjectStore } from '../projects/projects.store.ts'
import { createProjects } from '../projects/projects.ts'
import { createBatchedFetch } from '../secrets/batched-fetch.ts'
import { createEnvironments } from '../secrets/environments.ts'
import { createProjectSecrets } from '../secrets/project-secrets.ts'
import { createDecryptionMetrics, createPendingFetchMetrics } from '../secrets/secrets.metrics.ts'
import { createSecretStore } from '../secrets/secrets.store.ts'
import { createSecrets } from '../secrets/secrets.ts'
import { createSignedRequests, createSigningProjects } from '../signed-requests/signed-requests.ts'
import type { Connections } from './connections.ts'

/** How far behind `lastUsedAt` of a key is. */
const NOTE_USES_EVERY_MS = 10_000

/** Connections to Postgres that writes leave to everything else. */
const FOR_READS = 2

/** A data key stays in memory for up to six minutes after it was unwrapped. */
const DROP_KEYS_EVERY_MS = 60_000
/** Only what failed before is left to bind. */
const BIND_EVERY_MS = 60_000

/** Projects and secrets, joined. */
export type ProjectsAndSecrets = Awaited<ReturnType<typeof createProjectsAndSecrets>>

/** Joins projects, their secrets and the checks of their signed requests. */
export async function createProjectsAndSecrets(connections: Connections) {
  const { config, keyring, chainKeys, pool, db, nonces, clock, logger, metrics, background, onRefused } = connections
  const codes = createRowCodes(await chainKeys.first())
  const authentic = createAuthenticProjects({ codes, onRefused })
  const environments = createEnvironments({ codes, onRefused })
  const dataKeys = createDataKeys({ keyring, store: createDataKeyStore(db), clock })
  background.add({
    everyMs: DROP_KEYS_EVERY_MS,
    task: () => dataKeys.dropStale(),
    onError: (error) => logger.error({ err: error }, 'could not forget data keys'),
  })
  const signingProjects = createSigningProjects({ read: (name) => projects.findWithVerifyKeys(name), clock })
  const onChange = (name: string) => signingProjects.forget(name)
  const onUnbound = (error: unknown) =>
    logger.warn({ err: error }, 'could not bind administrators to their projects; it is retried')
  const administrators = createAdministrators({
    store: createAdministratorStore(db),
    ...{ codes, onRefused, clock, onUnbound },
  })
  // Those of an earlier release, or of a replica of one.
  await administrators.bindUnbound()
  background.add({ everyMs: BIND_EVERY_MS, task: () => administrators.bindUnbound(), onError: onUnbound })
  const onCreate = () => administrators.bindOrLater()
  const inTurn = createWriteTurns(Math.max(1, config.DATABASE_POOL_SIZE - FOR_READS))
  const projects = createProjects({
    store: createProjectStore(db),
    authentic,
    dataKeys,
    clock,
    inTurn,
    onCreate,
    onChange,
  })
  const decryption = createDecryptionMetrics(metrics.registry)
  const onDecryptionError = (error: unknown, place: object) => {
    decryption.failed()
    logger.error({ err: error, ...place }, 'a stored value does not decrypt')
  }
  const limits = { environmentBytes: config.MAX_ENVIRONMENT_BYTES, secrets: config.MAX_SECRETS }
  const store = createSecretStore(db, pool, environments, {
    ...limits,
    environments: config.MAX_ENVIRONMENTS,
    versions: config.MAX_VERSIONS,
  })
  const secrets = createSecrets({ store, dataKeys, clock, inTurn, onDecryptionError })
  const uses = createKeyUses({ store: createKeyUseStore(db), clock })
  const onNoteError = (error: unknown) => logger.warn({ err: error }, 'could not note when keys were last used')
  background.add({
    everyMs: NOTE_USES_EVERY_MS,
    task: uses.flush,
    onError: onNoteError,
    atStop: () => uses.flush().catch(onNoteError),
  })
  const signedRequests = createSignedRequests({ signingProjects, nonces, clock, onUse: uses.used })
  const countPending = signedRequests.countPendingFetches
  createPendingFetchMetrics(metrics.registry, countPending)
  const fetch = createBatchedFetch({
    ...{ store, environments, clock, countPending, limits },
    decrypt: secrets.decrypt,
  })
  return {
    useCases: {
      administrators,
      projects,
      /** What administrators do with secrets. */
      secrets,
      projectSecrets: createProjectSecrets({ secrets, fetch, confirm: signedRequests.confirm }),
    },
    signedRequests,
  }
}
