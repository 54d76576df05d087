import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Checks } from '@vault-and-tracker/service-kit/health'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { createMetrics, type Metrics } from '@vault-and-tracker/service-kit/metrics'
import { createKysely, createPool, pingPostgres } from '@vault-and-tracker/service-kit/postgres'
import { closeRedis, connectRedis, pingRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis'
import type { Redis } from 'ioredis'
import { createSealMetrics } from './audit/audit.metrics.ts'
import { createAuditStore } from './audit/audit.store.ts'
import type { AuditStore } from './audit/audit.ts'
import { createSealer, type Sealer } from './audit/sealer.ts'
import { createSealStore } from './audit/seals.store.ts'
import type { Config } from './config.ts'
import { createRest, type Rest } from './context/rest.ts'
import type { Schema } from './db/schema.ts'
import { createChainKeys } from './keyring/chain-keys.ts'
import { createDataKeys } from './keyring/data-keys.ts'
import { assertMatches, checkKeyring } from './keyring/key-check.ts'
import { createChainKeyStore, createDataKeyStore, createKekStore } from './keyring/keyring.store.ts'
import { createProjectStore } from './projects/projects.store.ts'
import { createProjects, type Projects } from './projects/projects.ts'
import { type BatchedFetch, createBatchedFetch } from './secrets/batched-fetch.ts'
import { createDecryptionMetrics } from './secrets/secrets.metrics.ts'
import { createSecretStore } from './secrets/secrets.store.ts'
import { createSecrets, type Secrets } from './secrets/secrets.ts'
import { createNonceStore } from './signed-requests/nonces.redis.ts'
import { createSignedRequests, createSigningProjects } from './signed-requests/signed-requests.ts'

/** What handlers call. */
export type UseCases = Readonly<{
  projects: Projects
  secrets: Secrets
  fetchSecrets: BatchedFetch
  audit: AuditStore
}>

/** The service, joined: what it does, who may call it, how it is watched, and how it ends. */
export type Context = Readonly<{
  useCases: UseCases
  rest: Rest
  sealer: Sealer
  metrics: Metrics
  checks: Checks
  close: () => Promise<void>
}>

/**
 * Connects to Postgres and Redis, checks the keyring against the database and joins the parts.
 *
 * @throws KeyringError naming the keys that are missing or different
 */
export async function createContext(options: { config: Config; logger: Logger; clock: Clock }): Promise<Context> {
  const { config, logger, clock } = options
  const { keyring } = config
  const pool = createPool({ url: config.DATABASE_URL, name: 'vault', size: config.DATABASE_POOL_SIZE, logger })
  const db = createKysely<Schema>(pool)
  const metrics = createMetrics()
  const keks = createKekStore(db)
  const audit = createAuditStore(db)
  const redis = await connect(config, logger, async () => {
    await checkKeyring({ keyring, store: keks, clock })
    await audit.ensurePartitions()
  }).catch(async (error: unknown) => {
    await db.destroy()
    throw error
  })

  const dataKeys = createDataKeys({ keyring, store: createDataKeyStore(db), clock })
  const signingProjects = createSigningProjects({ read: (name) => projects.findSigning(name), clock })
  const onChange = (name: string) => signingProjects.forget(name)
  const projects = createProjects({ store: createProjectStore(db), dataKeys, clock, onChange })
  const decryption = createDecryptionMetrics(metrics.registry)
  const onDecryptionFailure = (place: object, err: unknown) => {
    decryption.failed()
    logger.error({ err, ...place }, 'a stored value does not decrypt')
  }
  const secretStore = createSecretStore(db, pool)
  const secrets = createSecrets({ store: secretStore, dataKeys, clock, onDecryptionFailure })
  const signedRequests = createSignedRequests({ signingProjects, nonces: createNonceStore(redis), clock })
  const rest = createRest({ config, logger, clock, redis, registry: metrics.registry, signedRequests })
  const { fetchesExpected } = rest
  const fetchSecrets = createBatchedFetch({ store: secretStore, decrypt: secrets.decrypt, clock, fetchesExpected })

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
    onError: (error) => logger.warn({ err: error }, 'could not seal the audit log, trying again'),
  })

  return {
    useCases: { projects, secrets, fetchSecrets, audit },
    rest,
    sealer,
    metrics,
    checks: {
      postgres: () => pingPostgres(pool),
      redis: () => pingRedis(redis),
      keyring: async () => assertMatches(keyring, await keks.list()),
    },
    close: async () => {
      await closeRedis(redis)
      await db.destroy()
    },
  }
}

/** Redis, connected once everything else is known to be in order. */
async function connect(config: Config, logger: Logger, precondition: () => Promise<void>): Promise<Redis> {
  await precondition()
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'vault', logger, gatherWrites: true })
  await warnOfEviction(redis, logger)
  return redis
}
