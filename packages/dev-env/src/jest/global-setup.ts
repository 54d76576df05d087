import { startTestServers, type TestServers } from '../testing/servers.ts'

declare global {
  var devEnvTestServers: TestServers | undefined
}

/**
 * Jest's global setup: starts the servers of this run and announces them to the workers in their environment. In watch mode
 * it runs again after every save. Then the servers are reused, with new databases.
 */
export default async function setup(): Promise<void> {
  globalThis.devEnvTestServers ??= await startTestServers()
  const { run } = globalThis.devEnvTestServers
  process.env['TEST_RUN_ID'] = run.id
  process.env['TEST_DATABASE_URL'] = run.adminUrl
  process.env['TEST_REDIS_URL'] = run.redisUrl
}
