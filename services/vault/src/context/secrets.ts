import { createDataKeys } from '../keyring/data-keys.ts'
import { createDataKeyStore } from '../keyring/keyring.store.ts'
import { createProjectStore } from '../projects/projects.store.ts'
import { createProjects } from '../projects/projects.ts'
import { createBatchedFetch } from '../secrets/batched-fetch.ts'
import { createProjectSecrets } from '../secrets/project-secrets.ts'
import { createDecryptionMetrics, createPendingFetchMetrics } from '../secrets/secrets.metrics.ts'
import { createSecretStore } from '../secrets/secrets.store.ts'
import { createSecrets } from '../secrets/secrets.ts'
import { createSignedRequests, createSigningProjects } from '../signed-requests/signed-requests.ts'
import type { Connections } from './connections.ts'

/** Projects and secrets, joined. */
export type ProjectsAndSecrets = ReturnType<typeof createProjectsAndSecrets>

/** Joins projects, their secrets and the checks of their signed requests. */
export function createProjectsAndSecrets({ config, pool, db, nonces, clock, logger, metrics }: Connections) {
  const dataKeys = createDataKeys({ keyring: config.keyring, store: createDataKeyStore(db), clock })
  const signingProjects = createSigningProjects({ read: (name) => projects.findWithVerifyKeys(name), clock })
  const onChange = (name: string) => signingProjects.forget(name)
  const projects = createProjects({ store: createProjectStore(db), dataKeys, clock, onChange })
  const decryption = createDecryptionMetrics(metrics.registry)
  const onDecryptionError = (error: unknown, place: object) => {
    decryption.failed()
    logger.error({ err: error, ...place }, 'a stored value does not decrypt')
  }
  const store = createSecretStore(db, pool, {
    environmentBytes: config.MAX_ENVIRONMENT_BYTES,
    environments: config.MAX_ENVIRONMENTS,
    versions: config.MAX_VERSIONS,
  })
  const secrets = createSecrets({ store, dataKeys, clock, onDecryptionError })
  const signedRequests = createSignedRequests({ signingProjects, nonces, clock })
  const countPending = signedRequests.countPendingFetches
  createPendingFetchMetrics(metrics.registry, countPending)
  const fetch = createBatchedFetch({ store, decrypt: secrets.decrypt, clock, countPending })
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
