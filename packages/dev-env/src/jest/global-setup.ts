import { startTestServers, type TestServers } from '../testing/servers.ts'

declare global {
  var devEnvTestServers: TestServers | undefined
}

/** Jest's global set-up: the servers of this run, announced to the workers in their environment. */
export default async function setup(): Promise<void> {
  const servers = await startTestServers()
  globalThis.devEnvTestServers = servers
  process.env['TEST_RUN_ID'] = servers.run.id
  process.env['TEST_DATABASE_URL'] = servers.run.adminUrl
  process.env['TEST_REDIS_URL'] = servers.run.redisUrl
  process.env['TEST_RUN_FOLDER'] = servers.run.folder
}
