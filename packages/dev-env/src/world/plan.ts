import type { DatabasePlan } from '../databases/provision.ts'

export const SERVICES = ['vault', 'tracker'] as const
export type ServiceName = (typeof SERVICES)[number]

/**
 * What a service's database and roles are called on a server: after the service on a server that has nothing but
 * `postgres`, and after the database that DATABASE_URL names where the server is shared.
 */
export function databasePlan(adminUrl: string, service: ServiceName, password: (role: string) => string): DatabasePlan {
  const given = decodeURIComponent(new URL(adminUrl).pathname.slice(1))
  const prefix = given === '' || given === 'postgres' ? '' : `${given.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_')}_`
  const name = `${prefix}${service}`
  const role = (suffix: string): { name: string; password: string } => ({
    name: `${name}_${suffix}`,
    password: password(`${name}_${suffix}`),
  })
  return { database: name, owner: role('owner'), app: role('app') }
}

/** Each service has a logical Redis of its own on the private server; a server that was given is used as it is. */
export function redisUrlFor(service: ServiceName, url: string, isPrivate: boolean): string {
  return isPrivate ? `${url}/${service === 'vault' ? 0 : 1}` : url
}
