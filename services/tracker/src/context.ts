import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { Checks } from '@vault-and-tracker/service-kit/health'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { createMetrics } from '@vault-and-tracker/service-kit/metrics'
import { createKysely, createPool, pingPostgres } from '@vault-and-tracker/service-kit/postgres'
import { closeRedis, connectRedis, pingRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis'
import { createAccountStore } from './accounts/accounts.store.ts'
import { createAccounts } from './accounts/accounts.ts'
import { createInviteStore } from './accounts/invites.store.ts'
import { createInvites } from './accounts/invites.ts'
import { createPasswords } from './accounts/passwords.argon2.ts'
import { createSessionStore } from './accounts/sessions.redis.ts'
import { createSessions } from './accounts/sessions.ts'
import { createActivityStore } from './accounts/stats.store.ts'
import { createStats } from './accounts/stats.ts'
import { createAdminLog } from './admin-log/admin-log.store.ts'
import { repeat } from './background/background.ts'
import { createCategoryStore } from './categories/categories.store.ts'
import { createCategories } from './categories/categories.ts'
import type { Config } from './config.ts'
import { createAnnounceEngine } from './context/announce.ts'
import { createInvalidations } from './context/invalidations.ts'
import { createRest } from './context/rest.ts'
import { createTorznabApi } from './context/torznab.ts'
import { createTorznabAdmin } from './context/torznab-admin.ts'
import type { Schema } from './db/schema.ts'
import { createSearchStore } from './search/search.store.ts'
import { createSearch } from './search/search.ts'
import { createSiteSettingsStore } from './site-settings/site-settings.store.ts'
import { createSiteSettings } from './site-settings/site-settings.ts'
import { timeToLive } from './swarm/interval.ts'
import { createRereadStore } from './torrents/reread.store.ts'
import { createReread } from './torrents/reread.ts'
import { createTorrentStore } from './torrents/torrents.store.ts'
import { createTorrents } from './torrents/torrents.ts'
import { createSiteStates } from './torznab/site-state.ts'
import { withMetricsOfAllWorkers } from './workers.ts'

/** The service, joined: what it does, who may call it, how it is watched, and how it ends. */
export type Context = Awaited<ReturnType<typeof createContext>>

/** What handlers call. */
export type UseCases = Context['useCases']

/**
 * Connects to Postgres and Redis and joins the parts.
 *
 * @throws UnavailableError when Redis does not answer
 */
export async function createContext(options: { config: Config; logger: Logger; clock: Clock }) {
  const { config, logger, clock } = options
  const pool = createPool({ url: config.DATABASE_URL, name: 'tracker', size: config.DATABASE_POOL_SIZE, logger })
  const db = createKysely<Schema>(pool)
  const redis = await connectRedis({ url: config.REDIS_URL, name: 'tracker', logger })
  await warnOfEviction(redis, logger)
  const invalidations = await createInvalidations({ url: config.REDIS_URL, redis, logger })
  const { publish } = invalidations
  const announceUrl = (passkey: string): string => `${config.PUBLIC_URL}/announce?passkey=${passkey}`

  const accountStore = createAccountStore(db)
  const passwords = await createPasswords()
  const accounts = createAccounts({ store: accountStore, passwords, publish, registration: config.REGISTRATION, clock })
  const sessions = createSessions({ store: createSessionStore(redis), accounts: accountStore, clock })
  const invites = createInvites({ store: createInviteStore(db), clock })
  const peerTtlMs = timeToLive(config.ANNOUNCE_INTERVAL) * 1_000
  const stats = createStats({ accounts, activity: createActivityStore(db), clock, peerTtlMs })
  const categories = createCategories({ store: createCategoryStore(db), publish, clock })
  const siteSettings = createSiteSettings({ store: createSiteSettingsStore(db), publish, clock })
  const siteStates = createSiteStates({
    categories: () => categories.all(),
    multipliers: () => siteSettings.read(),
    clock,
  })
  invalidations.addCache({ onChange: siteStates.forget, onMissed: siteStates.revalidateAll })
  const torrentStore = createTorrentStore(db)
  const search = createSearch({
    store: createSearchStore(db),
    torrents: (ids) => torrentStore.byIds(ids),
    categories: { all: async () => (await siteStates.current()).categories },
  })
  const torrents = createTorrents({
    store: torrentStore,
    categories,
    publish,
    clock,
    approval: config.UPLOAD_APPROVAL,
    source: config.TORRENT_SOURCE ?? new URL(config.PUBLIC_URL).host,
    publicUrl: config.PUBLIC_URL,
    announceUrl,
    socketUrl: config.WEBSOCKET ? (passkey) => announceUrl(passkey).replace(/^http/i, 'ws') : undefined,
  })
  const adminLog = createAdminLog(db)

  const metrics = withMetricsOfAllWorkers(createMetrics())
  const announces = await createAnnounceEngine({ config, db, redis, invalidations, metrics, logger, clock })
  const torznabAdmin = createTorznabAdmin({ config, db, redis, invalidations, adminLog, metrics, logger, clock })
  const torznab = createTorznabApi({
    ...{ config, db, invalidations, logger, clock },
    ...{ torznabAdmin, siteStates, torrents, search },
  })
  const upkeep = repeat({
    everyMs: 3_600_000,
    task: async () => {
      await torrents.purgeDeleted()
    },
    failed: (error) => logger.warn({ err: error }, 'could not purge deleted torrents; the next round tries again'),
  })
  const reread = repeat({
    everyMs: 5_000,
    task: createReread({ store: createRereadStore(db) }),
    failed: (error) => logger.warn({ err: error }, 'could not read release names again; the next round tries again'),
  })
  const checks: Checks = { postgres: () => pingPostgres(pool), redis: () => pingRedis(redis), swarms: announces.ping }
  return {
    useCases: {
      accounts,
      sessions,
      invites,
      stats,
      categories,
      torrents,
      search,
      siteSettings,
      adminLog,
      announceUrl,
      site: { registration: config.REGISTRATION, torznabUrl: `${config.PUBLIC_URL}/api/torznab` },
      ...torznabAdmin.useCases,
    },
    rest: createRest({ config, logger, redis, sessions }),
    announces,
    torznabLog: torznabAdmin.log,
    torznabRoutes: torznab.routes,
    metrics,
    checks,
    /** Gives connections back; requests must have ended. */
    close: async (): Promise<void> => {
      await Promise.all([announces.close(), torznabAdmin.close(), upkeep.stop(), reread.stop()])
      invalidations.close()
      await closeRedis(redis)
      await db.destroy()
    },
  }
}
