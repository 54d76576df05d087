// The program of `infra/upgrade-trial`: upgrades both services as a rolling update does, while clients use them.
// Usage: node main.js <folder of the previous build> <folder of this build>
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { provisionDatabase } from '@vault-and-tracker/service-kit/postgres/provision'
import { databasePlan, withRole } from '../databases/admin.ts'
import type { ManagedProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'
import { startDurableServers } from '../testing/durable-servers.ts'
import { migrateService, type Service, type ServiceName, startService } from '../world/services.ts'
import type { Load } from './requests.ts'
import { createTrackerLoad } from './tracker-load.ts'
import { createVaultLoad } from './vault-load.ts'

/** How long clients use each combination of builds. */
const PHASE_MS = 10_000

const [previous = '', current = ''] = process.argv.slice(2)
const stores = await startDurableServers('upgrade')
const secret = (bytes: number): string => randomBytes(bytes).toString('hex')
const vaultKey = randomBytes(32).toString('base64')
const adminToken = secret(32)
const running: ManagedProcess[] = []

/** A service in two builds, each at its own port, with one database. */
async function prepare(name: ServiceName) {
  const plan = databasePlan(name, () => secret(16))
  await provisionDatabase(stores.postgres.url, plan)
  const ports = { previous: await freePort(), current: await freePort() }
  const urlOf = (port: number): string => `http://127.0.0.1:${String(port)}`
  const urls = { previous: urlOf(ports.previous), current: urlOf(ports.current) }
  const settings =
    name === 'vault'
      ? {
          ...{ PUBLIC_URL: Object.values(urls).join(), ADMIN_TOKEN: adminToken, FETCH_RATE_LIMIT: '0' },
          ...{ WRITE_RATE_LIMIT: '0', VAULT_KEYRING: `trial:${vaultKey}`, VAULT_KEYRING_ACTIVE: 'trial' },
        }
      : {
          ...{ PUBLIC_URL: urls.previous, ALLOW_PRIVATE_PEERS: 'true', MIN_ANNOUNCE_INTERVAL: '1' },
          ...{ ANNOUNCE_LIMIT: '0', REST_READ_LIMIT: '0', REST_WRITE_LIMIT: '0', AUTH_LIMIT: '0' },
        }
  const of = (build: 'previous' | 'current'): Service => ({
    name,
    code: { root: build === 'previous' ? previous : current, fromSource: false },
    env: {
      ...{ ...settings, HOST: '127.0.0.1', PORT: String(ports[build]), NODE_ENV: 'production' },
      DATABASE_URL: withRole(stores.postgres.url, plan.app, plan.database),
      REDIS_URL: `${stores.redis.url}/${name === 'vault' ? '0' : '1'}`,
    },
  })
  const migrate = (build: 'previous' | 'current'): Promise<void> =>
    migrateService({
      ...of(build),
      env: {
        MIGRATION_DATABASE_URL: withRole(stores.postgres.url, plan.owner, plan.database),
        RUNTIME_ROLE: plan.app.name,
      },
    })
  const start = async (build: 'previous' | 'current'): Promise<ManagedProcess> => {
    const started = await startService(of(build), join(stores.folder, build), urls[build])
    running.push(started)
    return started
  }
  return { name, urls, of, migrate, start }
}

async function step(label: string, work: () => Promise<unknown>): Promise<void> {
  const begun = performance.now()
  await work()
  console.log(`ok    ${label} (${((performance.now() - begun) / 1000).toFixed(1)} s)`)
}

try {
  const services = [await prepare('vault'), await prepare('tracker')] as const
  const [vault, tracker] = services
  const each = (work: (service: (typeof services)[number]) => Promise<unknown>) => () => Promise.all(services.map(work))
  const old: ManagedProcess[] = []
  await step(
    'the previous build migrates and starts',
    each(async (service) => {
      await service.migrate('previous')
      old.push(await service.start('previous'))
    }),
  )
  const content = join(stores.folder, 'content.bin')
  writeFileSync(content, randomBytes(1024 * 1024))
  const loads: readonly Load[] = [
    await createVaultLoad(vault.urls.previous, adminToken),
    await createTrackerLoad(tracker.urls.previous, tracker.of('previous'), content),
  ]
  const use = (builds: readonly ('previous' | 'current')[]): void => {
    for (const [index, load] of loads.entries()) load.use(builds.flatMap((build) => services[index]?.urls[build] ?? []))
  }
  use(['previous'])
  await step('the previous build serves', () => sleep(PHASE_MS))
  await step(
    'this build migrates while the previous one serves',
    each((service) => service.migrate('current')),
  )
  await step('the previous build serves with the new schema', () => sleep(PHASE_MS))
  await step(
    'this build starts alongside it',
    each((service) => service.start('current')),
  )
  use(['previous', 'current'])
  await step('both builds serve', () => sleep(PHASE_MS))
  use(['current'])
  await Promise.all(loads.map((load) => load.pause()))
  await step('the previous build stops', () => Promise.all(old.map((service) => service.stop())))
  use(['current'])
  await step('this build serves alone', () => sleep(PHASE_MS))
  for (const load of loads) console.log(`ok    ${await load.finish()}`)
} finally {
  await Promise.all(running.map((service) => service.stop()))
  await stores.stop()
}
