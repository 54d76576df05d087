import { startTestServers, type TestServers } from '../testing/servers.ts'

declare global {
  var devEnvTestServers: TestServers | undefined
}

/**
 * Jest's global set-up: the servers of this run, announced to the workers in their environment. In watch mode jest runs
 * it again after every save; the servers of the first run serve all of them, each with databases of its own.
 */
export default async function setup(): Promise<void> {
  globalThis.devEnvTestServers ??= await startTestServers()
  const { run } = globalThis.devEnvTestServers
  process.env['TEST_RUN_ID'] = run.id
  process.env['TEST_DATABASE_URL'] = run.adminUrl
  process.env['TEST_REDIS_URL'] = run.redisUrl
  process.env['TEST_RUN_FOLDER'] = run.folder
}
