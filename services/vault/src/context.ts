import type { IncomingMessage } from 'node:http'
import { addressKey, clientAddress } from '@vault-and-tracker/service-kit/client-address'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Checks } from '@vault-and-tracker/service-kit/health'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { createMetrics, type Metrics } from '@vault-and-tracker/service-kit/metrics'
import { createKysely, createPool, pingPostgres } from '@vault-and-tracker/service-kit/postgres'
import { createRateLimit } from '@vault-and-tracker/service-kit/rate-limit'
import { closeRedis, connectRedis, pingRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis'
import type { RequestHandler } from 'express'
import type { Redis } from 'ioredis'
import { bearerToken, createTokenCheck, type TokenCheck } from './admin/admin-token.ts'
import { createAuditStore } from './audit/audit.store.ts'
import type { AuditStore } from './audit/audit.ts'
import { createSealer, type Sealer } from './audit/sealer.ts'
import { createSealStore } from './audit/seals.store.ts'
import type { Config } from './config.ts'
import type { Schema } from './db/schema.ts'
import { apiError, isApiError } from './errors.ts'
import { createChainKeys } from './keyring/chain-keys.ts'
import { createDataKeys } from './keyring/data-keys.ts'
import { assertMatches, checkKeyring } from './keyring/key-check.ts'
import { createChainKeyStore, createDataKeyStore, createKekStore } from './keyring/keyring.store.ts'
import { createFailureCeiling } from './limits/failure-ceiling.ts'
import { createGuard, type Guard } from './limits/limits.middleware.ts'
import { createVaultMetrics } from './metrics.ts'
import { createProjectStore } from './projects/projects.store.ts'
import { createProjects, type Projects } from './projects/projects.ts'
import { createFetches, type FetchAll } from './secrets/fetches.ts'
import { createSecretStore } from './secrets/secrets.store.ts'
import { createSecrets, type Secrets } from './secrets/secrets.ts'
import { createNonceStore } from './signed-requests/nonces.redis.ts'
import { createRegistrations } from './signed-requests/registrations.ts'
import { createSigned, type Signed } from './signed-requests/signed-requests.middleware.ts'
import { createSignedRequests } from './signed-requests/signed-requests.ts'

/** Everything the service is made of, joined. */
export type Context = Readonly<{
  projects: Projects
  secrets: Secrets
  fetchAll: FetchAll
  onTheWay: Set<unknown>
  audit: AuditStore
  metrics: Metrics
  addressOf: (request: IncomingMessage) => string
  isToken: TokenCheck
  adminGuard: Guard
  fetchLimit: RequestHandler
  signed: Signed
  sealer: Sealer
  checks: Checks
  close: () => Promise<void>
}>

/**
 * Connects to Postgres and Redis, checks the keyring against the database and joins the parts.
 *
 * @throws KeyringError naming the keys that are missing or different
 */
export async function createContext(
  config: Config,
  { logger, clock }: { logger: Logger; clock: Clock },
): Promise<Context> {
  const { keyring, proxies } = config
  const pool = createPool({ url: config.DATABASE_URL, name: 'vault', size: config.DATABASE_POOL_SIZE, logger })
  const db = createKysely<Schema>(pool)
  const metrics = createMetrics()
  const counters = createVaultMetrics(metrics.registry)
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
  const registrations = createRegistrations({ read: (name) => projects.register(name), clock })
  const onChange = (name: string) => registrations.forget(name)
  const projects = createProjects({ store: createProjectStore(db), dataKeys, clock, onChange })
  const onDecryptionFailure = (place: object, err: unknown) => {
    counters.decryptionFailures.inc()
    logger.error({ err, ...place }, 'a stored value does not decrypt')
  }
  const secretStore = createSecretStore(db, pool)
  const secrets = createSecrets({ store: secretStore, dataKeys, clock, onDecryptionFailure })
  const onTheWay = new Set<unknown>()
  const signedRequests = createSignedRequests({ registrations, nonces: createNonceStore(redis), clock })

  const sharedLimit = (name: string, limit: number, windowMs: number) =>
    createRateLimit({
      name: `vault-${name}`,
      redis,
      limit,
      windowMs,
      logger,
      keyOf: (request) => addressKey(clientAddress(request, proxies)),
      refuse: () => {
        throw apiError('rate_limited')
      },
      whenRedisIsAway: 'refuse',
    })
  const guard = (name: string, limit: number, windowMs: number, isAttempt: (request: IncomingMessage) => boolean) =>
    createGuard({
      ceiling: createFailureCeiling({
        limit,
        windowMs,
        clock,
        onShut: (address) => logger.warn({ address, limit: name }, 'too many failures: shut out'),
      }),
      countShared: sharedLimit(name, limit, windowMs),
      proxies,
      isFailure: (error, request) => isApiError(error) && counters.countRefusal(error.code) && isAttempt(request),
    })

  const chainKeys = createChainKeys({ keyring, store: createChainKeyStore(db), clock })
  const sealer = createSealer({
    store: createSealStore(db),
    chainKey: () => chainKeys.current(),
    clock,
    onPass: (end) => {
      counters.auditSealed.set(clock.now() / 1000)
      if (end !== undefined) logger.info(end, 'the audit log is sealed up to here')
    },
    onError: (error) => logger.warn({ err: error }, 'could not seal the audit log, trying again'),
  })

  return {
    projects,
    secrets,
    fetchAll: createFetches({ store: secretStore, open: secrets.decrypt, clock, onTheWay }),
    onTheWay,
    audit,
    sealer,
    metrics,
    addressOf: (request) => clientAddress(request, proxies),
    isToken: createTokenCheck([config.ADMIN_TOKEN, config.ADMIN_TOKEN_PREVIOUS ?? config.ADMIN_TOKEN]),
    adminGuard: guard('admin-failures', config.ADMIN_FAILURE_LIMIT, 300_000, hasToken),
    fetchLimit: sharedLimit('fetch', config.FETCH_RATE_LIMIT, 60_000),
    signed: createSigned({
      signedRequests,
      guard: guard('signature-failures', config.SIGNATURE_FAILURE_LIMIT, 60_000, () => true),
      proxies,
    }),
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

/** Who sends no token guesses none: a probe must not shut the administrators behind its address out. */
function hasToken(request: IncomingMessage): boolean {
  return bearerToken(request.headers.authorization) !== undefined
}

/** Redis, connected once everything else is known to be in order. */
async function connect(config: Config, logger: Logger, precondition: () => Promise<void>): Promise<Redis> {
  await precondition()
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'vault', logger, gatherWrites: true })
  await warnOfEviction(redis, logger)
  return redis
}
