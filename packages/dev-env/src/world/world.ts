import { withRole } from '../databases/admin.ts'
import { provisionDatabase } from '../databases/provision.ts'
import type { RestartableProcess } from '../processes/restartable.ts'
import { type Demo, writeDemo } from './demo.ts'
import type { WorldOptions } from './options.ts'
import { databasePlan, redisUrlFor, type ServiceName } from './plan.ts'
import { seedTracker } from './seed-tracker.ts'
import { seedVault } from './seed-vault.ts'
import { ensureServer, type Server } from './servers.ts'
import { migrateService } from './service-command.ts'
import { serviceEnvironments, serviceUrls } from './service-environment.ts'
import { startService } from './services.ts'
import { openState, rolePassword, type StateFile } from './state.ts'

/** Both services, ready and with demo data. `stopAll()` ends it. */
export interface World {
  demo: Demo
  services: Record<ServiceName, RestartableProcess>
  /** Brings the database of a service to the newest schema. */
  migrate(service: ServiceName): Promise<void>
  /** Calls back when a server ends that was not stopped, with its name and the last lines of its log. */
  onServerFailure(report: (name: string, logTail: string) => void): void
}

interface Stores {
  postgres: Server
  redis: Server
  file: StateFile
}

/** The connections of a service, by role. */
interface ServiceStores {
  ownerUrl: string
  /** The role that the service runs with. */
  appRole: string
  databaseUrl: string
  redisUrl: string
}

/** Starts Postgres and Redis, migrates, starts both services and fills them with demo data. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { step, dataDir } = options
  const file = openState(dataDir)
  const postgres = await step(options.databaseUrl ? 'Postgres of DATABASE_URL' : 'PostgreSQL 18', () =>
    ensureServer('postgres', options.databaseUrl, options, file),
  )
  const redis = await step(options.redisUrl ? 'Redis of REDIS_URL' : 'Redis', () =>
    ensureServer('redis', options.redisUrl, options, file),
  )
  const stores = {
    vault: storesOf('vault', { postgres, redis, file }),
    tracker: storesOf('tracker', { postgres, redis, file }),
  }
  const migrate = (service: ServiceName): Promise<void> =>
    migrateService({ code: options, service, ...stores[service] })
  await step('databases migrated', async () => {
    await Promise.all([prepare('vault'), prepare('tracker')])
  })
  async function prepare(service: ServiceName): Promise<void> {
    await provisionDatabase(postgres.url, planOf(service, postgres, file))
    await migrate(service)
  }
  const env = serviceEnvironments(options, file.state.vault.adminToken, stores)
  const urls = serviceUrls(options)
  const start = (name: ServiceName): Promise<RestartableProcess> =>
    step(name, () => startService({ name, code: options, dataDir, env: env[name], url: urls[name] }))
  const services = { vault: await start('vault'), tracker: await start('tracker') }
  const adminToken = env.vault['ADMIN_TOKEN'] ?? ''
  await step('demo data', async () => {
    await seedVault(urls.vault, file.state.vault, adminToken)
    const { databaseUrl, redisUrl } = stores.tracker
    await seedTracker({ code: options, dataDir, url: urls.tracker, databaseUrl, redisUrl, file })
  })
  return {
    demo: writeDemo(dataDir, urls, file.state, adminToken),
    services,
    migrate,
    onServerFailure: (report) => {
      postgres.onUnexpectedExit((logTail) => report('Postgres', logTail))
      redis.onUnexpectedExit((logTail) => report('Redis', logTail))
    },
  }
}

function planOf(service: ServiceName, postgres: Server, file: StateFile) {
  return databasePlan(postgres.url, service, (role) => rolePassword(file, role))
}

function storesOf(service: ServiceName, { postgres, redis, file }: Stores): ServiceStores {
  const { owner, app, database } = planOf(service, postgres, file)
  return {
    ownerUrl: withRole(postgres.url, owner, database),
    appRole: app.name,
    databaseUrl: withRole(postgres.url, app, database),
    redisUrl: redisUrlFor(service, redis.url, redis.isPrivate),
  }
}
