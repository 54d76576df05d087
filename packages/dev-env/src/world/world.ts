import { join } from 'node:path'
import { readSecret } from '@vault-and-tracker/service-kit/config/env'
import { provisionDatabase } from '@vault-and-tracker/service-kit/postgres/provision'
import { databasePlan, withRole } from '../databases/admin.ts'
import { plannedChanges, requirePostgres, requireRedis } from '../databases/given-servers.ts'
import { startPostgres } from '../postgres/postgres.ts'
import type { ManagedProcess } from '../processes/managed-process.ts'
import { freePort, portProblem } from '../processes/ports.ts'
import { startRedis } from '../redis/redis.ts'
import { type Demo, writeDemo } from './demo.ts'
import { createAdministrator, seedTracker } from './seed-tracker.ts'
import { seedVault } from './seed-vault.ts'
import { serviceEnvironment, serviceUrl } from './service-environment.ts'
import {
  migrateService,
  SERVICES,
  type Service,
  type ServiceName,
  startService,
  type WorldOptions,
} from './services.ts'
import { type DemoSwarm, openState, rolePassword, type StateFile } from './state.ts'

/** Both services, ready and with demo data. `stopAll()` stops them. */
export type World = {
  demo: Demo
  swarms: readonly DemoSwarm[]
  services: Record<ServiceName, ManagedProcess>
  /** The private servers. */
  servers: ManagedProcess[]
  migrate(service: ServiceName): Promise<void>
}

/** A server that the services use. A private one has a process. */
type Server = { url: string; process?: ManagedProcess }

const START = { postgres: startPostgres, redis: startRedis }

/** Starts Postgres and Redis, migrates, starts both services and fills them with demo data. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { step, dataDir, databaseUrl, redisUrl } = options
  // Before anything is written.
  if (databaseUrl !== undefined)
    await step('Postgres of DATABASE_URL', () => requirePostgres({ url: databaseUrl, variable: 'DATABASE_URL' }))
  if (redisUrl !== undefined)
    await step('Redis of REDIS_URL', () => requireRedis({ url: redisUrl, variable: 'REDIS_URL' }))
  const file = openState(dataDir)
  const known = new Set(Object.keys(file.state.passwords))
  const ensure = (kind: keyof typeof START, label: string, given: string | undefined): Promise<Server> =>
    given === undefined ? step(label, () => startPrivate(kind, dataDir, file)) : Promise.resolve({ url: given })
  const postgres = await ensure('postgres', 'PostgreSQL 18', databaseUrl)
  const redis = await ensure('redis', 'Redis', redisUrl)
  const prepared = { vault: prepare('vault'), tracker: prepare('tracker') }
  function prepare(name: ServiceName) {
    const plan = databasePlan(`${databasePrefix(postgres.url)}${name}`, (role) => rolePassword(file, role))
    const { owner, app, database } = plan
    const env = serviceEnvironment(name, options, file.state.vault.adminToken, {
      databaseUrl: withRole(postgres.url, app, database),
      // Each service has its own logical database on the private Redis.
      redisUrl: redis.process === undefined ? redis.url : `${redis.url}/${SERVICES.indexOf(name)}`,
    })
    const migrations = { MIGRATION_DATABASE_URL: withRole(postgres.url, owner, database), RUNTIME_ROLE: app.name }
    const service: Service = { name, code: options, env }
    return {
      plan,
      service,
      url: serviceUrl(name, options),
      migrate: () => migrateService({ ...service, env: migrations }),
    }
  }
  const { vault, tracker } = prepared
  if (databaseUrl !== undefined) {
    const plans = [vault.plan, tracker.plan]
    const given = { url: databaseUrl, variable: 'DATABASE_URL' }
    for (const sentence of await plannedChanges(given, plans, (role) => known.has(role))) options.say(sentence)
  }
  await step('databases migrated', async () => {
    await Promise.all(
      [vault, tracker].map(async ({ plan, migrate }) => {
        await provisionDatabase(postgres.url, plan)
        await migrate()
      }),
    )
  })
  const start = ({ service, url }: typeof vault): Promise<ManagedProcess> =>
    step(service.name, () => startService(service, dataDir, url))
  const created = await createAdministrator({ service: tracker.service, file })
  const services = { vault: await start(vault), tracker: await start(tracker) }
  const adminToken = readSecret('ADMIN_TOKEN', vault.service.env) ?? ''
  await step('demo data', async () => {
    // The tracker has its torrent once everything was stored.
    const wasSeeded = file.state.tracker.torrent !== undefined
    const { say } = options
    await Promise.all([
      seedVault({ url: vault.url, vault: file.state.vault, adminToken, wasSeeded, say }),
      seedTracker({ service: tracker.service, dataDir, url: tracker.url, file, created, say }),
    ])
  })
  return {
    demo: writeDemo(dataDir, { vault: vault.url, tracker: tracker.url }, file.state, adminToken),
    swarms: file.state.tracker.swarms ?? [],
    services,
    servers: [postgres, redis].flatMap(({ process }) => process ?? []),
    migrate: (name) => prepared[name].migrate(),
  }
}

/** Starts a private server with durable data. */
async function startPrivate(kind: keyof typeof START, dataDir: string, { state, save }: StateFile): Promise<Server> {
  // The same port as last time if it is free, so that open clients can reconnect.
  const last = state.ports[kind]
  const port = last !== undefined && (await portProblem(last)) === undefined ? last : await freePort()
  const server = await START[kind]({ dataDir: join(dataDir, kind), port, durable: true })
  state.ports[kind] = server.port
  save()
  return { url: server.url, process: server }
}

/** The prefix of databases and roles: on a server that may be shared, the name of the database in DATABASE_URL. */
function databasePrefix(adminUrl: string): string {
  const given = decodeURIComponent(new URL(adminUrl).pathname.slice(1))
  return given === '' || given === 'postgres' ? '' : `${given.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_')}_`
}
