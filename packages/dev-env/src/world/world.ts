import { withRole } from '../databases/admin.ts'
import { provisionDatabase } from '../databases/provision.ts'
import type { ManagedProcess } from '../processes/managed-process.ts'
import { type Demo, writeDemo } from './demo.ts'
import { keyringFile } from './keyring.ts'
import type { Step, WorldOptions } from './options.ts'
import { databasePlan, redisUrlFor, type ServiceName } from './plan.ts'
import { seedTracker } from './seed-tracker.ts'
import { seedVault } from './seed-vault.ts'
import { ensurePostgres, ensureRedis, type Server } from './servers.ts'
import { migrateService } from './service-command.ts'
import { startService } from './services.ts'
import { openState, rolePassword, type StateFile } from './state.ts'

/** Both services, ready and with something in them. `stopAll()` ends it. */
export interface World {
  demo: Demo
  /** Calls back when a part ends that nobody stopped, with its name and the last lines it wrote. */
  onFailure(report: (name: string, logTail: string) => void): void
}

interface Stores {
  postgres: Server
  redis: Server
  file: StateFile
}

/** Starts Postgres and Redis, migrates, starts both services and fills them with demo data. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const step: Step = options.step ?? ((_label, work) => work())
  const file = openState(options.dataDir)
  const postgres = await step(options.databaseUrl ? 'Postgres of DATABASE_URL' : 'PostgreSQL 18', () =>
    ensurePostgres(options, file),
  )
  const redis = await step(options.redisUrl ? 'Redis of REDIS_URL' : 'Redis', () => ensureRedis(options, file))
  const stores = { postgres, redis, file }
  const databases = await step('databases migrated', () => prepareDatabases(options, stores))
  const urls = { vault: `http://127.0.0.1:${options.vaultPort}`, tracker: `http://127.0.0.1:${options.trackerPort}` }
  const vault = await step('vault', () => startVault(options, stores, databases.vault, urls.vault))
  const tracker = await step('tracker', () => startTracker(options, stores, databases.tracker, urls.tracker))
  await step('demo data', async () => {
    await seedVault(urls.vault, file.state)
    const redisUrl = redisUrlFor('tracker', redis.url, redis.isPrivate)
    await seedTracker({ ...options, url: urls.tracker, databaseUrl: databases.tracker, redisUrl, file })
  })
  return {
    demo: writeDemo(options.dataDir, urls, file.state),
    onFailure: (report) => {
      postgres.onUnexpectedExit((logTail) => report('Postgres', logTail))
      redis.onUnexpectedExit((logTail) => report('Redis', logTail))
      for (const service of [vault, tracker]) void service.exited.then(() => report(service.name, service.logTail()))
    },
  }
}

/** @returns the URLs of the run-time roles */
async function prepareDatabases(
  { root }: WorldOptions,
  { postgres, file }: Stores,
): Promise<Record<ServiceName, string>> {
  const prepare = async (service: ServiceName): Promise<string> => {
    const plan = databasePlan(postgres.url, service, (role) => rolePassword(file, role))
    await provisionDatabase(postgres.url, plan)
    const ownerUrl = withRole(postgres.url, plan.owner, plan.database)
    await migrateService({ root, service, ownerUrl, appRole: plan.app.name })
    return withRole(postgres.url, plan.app, plan.database)
  }
  const [vault, tracker] = await Promise.all([prepare('vault'), prepare('tracker')])
  return { vault, tracker }
}

function commonEnv(options: WorldOptions, { redis }: Stores, service: ServiceName, databaseUrl: string) {
  return {
    HOST: '127.0.0.1',
    PORT: String(service === 'vault' ? options.vaultPort : options.trackerPort),
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrlFor(service, redis.url, redis.isPrivate),
    LOG_LEVEL: options.logLevel ?? 'info',
  }
}

function startVault(options: WorldOptions, stores: Stores, databaseUrl: string, url: string): Promise<ManagedProcess> {
  const env = {
    ...commonEnv(options, stores, 'vault', databaseUrl),
    ADMIN_TOKEN: stores.file.state.vault.adminToken,
    VAULT_KEYRING_FILE: keyringFile(options.dataDir),
  }
  return startService({ name: 'vault', ...options, env, url })
}

function startTracker(
  options: WorldOptions,
  stores: Stores,
  databaseUrl: string,
  url: string,
): Promise<ManagedProcess> {
  const env = {
    ...commonEnv(options, stores, 'tracker', databaseUrl),
    PUBLIC_URL: url,
    // The demo's peers are on this very machine.
    ALLOW_PRIVATE_PEERS: 'true',
  }
  return startService({ name: 'tracker', ...options, env, url })
}
