import { randomBytes } from 'node:crypto'
import {
  createDatabase,
  type DatabasePlan,
  guardDatabase,
  provisionDatabase,
  withClient,
} from '@vault-and-tracker/service-kit/postgres/provision'
import type pg from 'pg'
import { databasePlan, dropDatabase, withDatabase, withRole } from '../databases/admin.ts'
import { currentTestRun, newRunId, type RunServer, runPassword, runPrefix } from './test-run.ts'

/** Applies a service's real migrations to the database at `url`, granting to `runtimeRole`. */
export type ApplyMigrations = (target: { url: string; runtimeRole: string }) => Promise<void>

export type TestDatabaseOptions = {
  /** Names the template, so a service always has to pass the same migrations. */
  service: string
  migrate: ApplyMigrations
  /** A server of the test, which it may stop and freeze, instead of the run's. */
  server?: { url: string }
}

/** A migrated database, with the two roles that a service has in production. */
export type TestDatabase = {
  name: string
  /** As the role that migrated it. */
  ownerUrl: string
  /** As the role the service runs with. */
  appUrl: string
  /** As superuser, into the same database. */
  adminUrl: string
  drop(): Promise<void>
}

/**
 * Clones the service's template, which takes about 40 ms. The first call of a run builds the template with the real
 * migrations. Other calls wait for it, including those of other workers.
 */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const run = serverFor(options)
  const template = planFor(run, options.service, 'template')
  const copy = planFor(run, options.service, randomBytes(4).toString('hex'))
  await withClient(run.adminUrl, async (admin) => {
    await ensureTemplate(admin, run, template, options)
    await createDatabase(admin, copy, template.database)
    await guardDatabase(admin, copy)
  })
  return {
    name: copy.database,
    ownerUrl: withRole(run.adminUrl, copy.owner, copy.database),
    appUrl: withRole(run.adminUrl, copy.app, copy.database),
    adminUrl: withDatabase(run.adminUrl, copy.database),
    drop: () => dropDatabase(run.adminUrl, copy.database),
  }
}

const ownServers = newRunId()

function serverFor({ server }: TestDatabaseOptions): RunServer {
  return server === undefined ? currentTestRun() : { id: ownServers, adminUrl: server.url }
}

function planFor(run: RunServer, service: string, purpose: string): DatabasePlan {
  const prefix = `${runPrefix(run)}${service.replaceAll('-', '_')}`
  return databasePlan(prefix, (role) => runPassword(run, role), `${prefix}_${purpose}`)
}

async function ensureTemplate(
  admin: pg.Client,
  run: RunServer,
  plan: DatabasePlan,
  { service, migrate }: TestDatabaseOptions,
): Promise<void> {
  const lock = [`dev-env template ${run.id} ${service}`]
  await admin.query('select pg_advisory_lock(hashtextextended($1, 0))', lock)
  try {
    if (await isTemplate(admin, plan.database)) return
    // A failed migration leaves a database without the mark.
    await dropDatabase(run.adminUrl, plan.database)
    await provisionDatabase(run.adminUrl, plan)
    await migrate({ url: withRole(run.adminUrl, plan.owner, plan.database), runtimeRole: plan.app.name })
    // The mark means that the migrations are complete. Connections would block cloning.
    await admin.query(`alter database ${plan.database} is_template true allow_connections false`)
  } finally {
    await admin.query('select pg_advisory_unlock(hashtextextended($1, 0))', lock)
  }
}

async function isTemplate(admin: pg.Client, database: string): Promise<boolean> {
  const found = await admin.query('select 1 from pg_database where datname = $1 and datistemplate', [database])
  return found.rowCount === 1
}
