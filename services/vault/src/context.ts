import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Checks } from '@vault-and-tracker/service-kit/health'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { createMetrics, type Metrics } from '@vault-and-tracker/service-kit/metrics'
import { createKysely, createPool, pingPostgres } from '@vault-and-tracker/service-kit/postgres'
import { closeRedis, connectRedis, pingRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis'
import { type Resources, withResources } from '@vault-and-tracker/service-kit/resources'
import { createSealMetrics } from './audit/audit.metrics.ts'
import { createAuditStore } from './audit/audit.store.ts'
import { type AuditLog, createAuditLog } from './audit/audit-log.ts'
import { createSealer } from './audit/sealer.ts'
import { createSealStore } from './audit/seals.store.ts'
import type { Config } from './config.ts'
import { type Background, createBackground } from './context/background.ts'
import { createRest, type Rest } from './context/rest.ts'
import type { Schema } from './db/schema.ts'
import { createChainKeys } from './keyring/chain-keys.ts'
import { createDataKeys } from './keyring/data-keys.ts'
import { assertMatches, checkKeyring } from './keyring/key-check.ts'
import { createChainKeyStore, createDataKeyStore, createKekStore } from './keyring/keyring.store.ts'
import { createProjectStore } from './projects/projects.store.ts'
import { createProjects, type Projects } from './projects/projects.ts'
import { createBatchedFetch } from './secrets/batched-fetch.ts'
import { createProjectSecrets, type ProjectSecrets } from './secrets/project-secrets.ts'
import { createDecryptionMetrics, createPendingFetchMetrics } from './secrets/secrets.metrics.ts'
import { createSecretStore } from './secrets/secrets.store.ts'
import { createSecrets, type Secrets } from './secrets/secrets.ts'
import { createNonceStore } from './signed-requests/nonces.redis.ts'
import { createSignedRequests, createSigningProjects } from './signed-requests/signed-requests.ts'

/** What handlers call. */
export type UseCases = Readonly<{
  projects: Projects
  /** What administrators do with secrets. */
  secrets: Secrets
  projectSecrets: ProjectSecrets
  audit: AuditLog
}>

/** What the service starts with. */
type Start = Readonly<{ config: Config; logger: Logger; clock: Clock }>

/** The service, joined: what it does, who may call it, how it is watched, and how it ends. */
export type Context = Readonly<{
  useCases: UseCases
  rest: Rest
  background: Background
  metrics: Pick<Metrics, 'middleware' | 'handler'>
  checks: Checks
  close: () => Promise<void>
}>

/**
 * Connects to Postgres and Redis, checks the keyring against the database and joins the parts.
 *
 * @throws KeyringError naming the keys that are missing or different; UnavailableError when Redis does not respond.
 *   Then no connection is left open
 */
export function createContext(options: Start): Promise<Context> {
  return withResources(options.logger, (resources) => join(options, resources))
}

async function join({ config, logger, clock }: Start, resources: Resources): Promise<Omit<Context, 'close'>> {
  const { keyring } = config
  const pool = createPool({ url: config.DATABASE_URL, name: 'vault', size: config.DATABASE_POOL_SIZE, logger })
  const db = createKysely<Schema>(pool)
  resources.defer(() => db.destroy())
  const metrics = createMetrics()
  const keks = createKekStore(db)
  const auditStore = createAuditStore(db)
  await checkKeyring({ keyring, store: keks, clock })
  await auditStore.ensurePartitions()
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'vault', logger, corkWrites: true })
  resources.defer(() => closeRedis(redis))
  await warnOfEviction(redis, logger)

  const dataKeys = createDataKeys({ keyring, store: createDataKeyStore(db), clock })
  const signingProjects = createSigningProjects({ read: (name) => projects.findWithVerifyKeys(name), clock })
  const onChange = (name: string) => signingProjects.forget(name)
  const projects = createProjects({ store: createProjectStore(db), dataKeys, clock, onChange })
  const decryption = createDecryptionMetrics(metrics.registry)
  const onDecryptionError = (error: unknown, place: object) => {
    decryption.failed()
    logger.error({ err: error, ...place }, 'a stored value does not decrypt')
  }
  const secretStore = createSecretStore(db, pool)
  const secrets = createSecrets({ store: secretStore, dataKeys, clock, onDecryptionError })
  const signedRequests = createSignedRequests({ signingProjects, nonces: createNonceStore(redis), clock })
  const countPending = signedRequests.countPendingFetches
  createPendingFetchMetrics(metrics.registry, countPending)
  const fetch = createBatchedFetch({ store: secretStore, decrypt: secrets.decrypt, clock, countPending })

  const chainKeys = createChainKeys({ keyring, store: createChainKeyStore(db), clock })
  const seals = createSealMetrics(metrics.registry)
  const sealer = createSealer({
    store: createSealStore(db),
    chainKey: () => chainKeys.current(),
    clock,
    onPass: (end) => {
      seals.sealed(clock.now())
      if (end !== undefined) logger.info(end, 'audit log sealed up to here')
    },
    onError: (error) => logger.warn({ err: error }, 'could not seal the audit log; it is retried'),
  })

  return {
    useCases: {
      projects,
      secrets,
      projectSecrets: createProjectSecrets({ secrets, fetch, confirm: signedRequests.confirm }),
      audit: createAuditLog({ store: auditStore }),
    },
    rest: createRest({ config, logger, clock, redis, registry: metrics.registry, signedRequests }),
    background: createBackground({ sealer, audit: auditStore, logger }),
    metrics: { middleware: metrics.middleware, handler: metrics.handler },
    checks: {
      postgres: () => pingPostgres(pool),
      redis: () => pingRedis(redis),
      keyring: async () => assertMatches(keyring, await keks.list()),
    },
  }
}
