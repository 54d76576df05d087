import { createHash, randomBytes } from 'node:crypto'

/** A server for test databases, and the id of the run. */
export type RunServer = {
  /** Part of every name that this run creates, because the server may be shared with other runs. */
  id: string
  adminUrl: string
}

/** Data for every worker of a test run. */
export type TestRun = RunServer & { redisUrl: string }

/** The prefix of all databases and roles of a run. */
export function runPrefix({ id }: Pick<RunServer, 'id'>): string {
  return `test_${id}_`
}

export function newRunId(): string {
  return randomBytes(4).toString('hex')
}

/** The run of this process, from the environment that the global setup has set. */
export function currentTestRun(env: NodeJS.ProcessEnv = process.env): TestRun {
  const { TEST_RUN_ID: id, TEST_DATABASE_URL: adminUrl, TEST_REDIS_URL: redisUrl } = env
  if (id === undefined || adminUrl === undefined || redisUrl === undefined)
    throw new Error('no test servers: use `withServers` of jest.config.base.js in jest.config.js')
  return { id, adminUrl, redisUrl }
}

/** A password that all workers of a run derive and that cannot be guessed. */
export function runPassword({ id, adminUrl }: RunServer, role: string): string {
  return createHash('sha256').update(`${adminUrl}\n${id}\n${role}`).digest('hex')
}
