import { type DatabasePlan, type Role, withClient } from '@vault-and-tracker/service-kit/postgres/provision'
import pg from 'pg'

/** The same server and user with another database. */
export function withDatabase(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href
}

/** The same server with another user and database. */
export function withRole(url: string, { name, password }: Role, database: string): string {
  return Object.assign(new URL(withDatabase(url, database)), { username: name, password }).href
}

/** A plan by the prefix of its names: the roles are called `<prefix>_owner` and `<prefix>_app`. */
export function databasePlan(prefix: string, passwordOf: (role: string) => string, database = prefix): DatabasePlan {
  const role = (name: string): Role => ({ name, password: passwordOf(name) })
  return { database, owner: role(`${prefix}_owner`), app: role(`${prefix}_app`) }
}

/** Drops a database and ends all connections to it. */
export async function dropDatabase(adminUrl: string, database: string): Promise<void> {
  await withClient(withDatabase(adminUrl, 'postgres'), async (admin) => {
    await admin.query(`drop database if exists ${pg.escapeIdentifier(database)} with (force)`)
  })
}
