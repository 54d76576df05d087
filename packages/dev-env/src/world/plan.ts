import type { DatabasePlan } from '../databases/provision.ts'

export const SERVICES = ['vault', 'tracker'] as const
export type ServiceName = (typeof SERVICES)[number]

/**
 * The names of a service's database and roles: the service's own name on a private server, with the name of the database
 * in DATABASE_URL as a prefix on a server that may be shared.
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

/** Each service has its own logical database on the private Redis. The URL of another server is used as it is. */
export function redisUrlFor(service: ServiceName, url: string, isPrivate: boolean): string {
  return isPrivate ? `${url}/${service === 'vault' ? 0 : 1}` : url
}
