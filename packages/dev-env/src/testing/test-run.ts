import { createHash, randomBytes } from 'node:crypto'

/** What every worker of one test run has to know. */
export interface TestRun {
  /** Part of every name this run creates on a server that it may share with others. */
  id: string
  adminUrl: string
  redisUrl: string
}

/** A fresh id for a run. */
export function newRunId(): string {
  return randomBytes(4).toString('hex')
}

/** The run this process belongs to, as the global set-up announced it. */
export function currentTestRun(env: NodeJS.ProcessEnv = process.env): TestRun {
  const { TEST_RUN_ID: id, TEST_DATABASE_URL: adminUrl, TEST_REDIS_URL: redisUrl } = env
  if (id === undefined || adminUrl === undefined || redisUrl === undefined) {
    throw new Error('no test servers: name the global-setup.ts and global-teardown.ts of dev-env in jest.config.js')
  }
  return { id, adminUrl, redisUrl }
}

/** A password that all workers of a run know and nobody else can guess. */
export function runPassword(run: TestRun, role: string): string {
  return createHash('sha256').update(`${run.adminUrl}\n${run.id}\n${role}`).digest('hex')
}
