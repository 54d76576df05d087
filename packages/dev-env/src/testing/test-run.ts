import { createHash, randomBytes } from 'node:crypto'
import { becomeGuest } from './guest.ts'

/** A server to create databases on, and the id of the run. */
export interface RunServer {
  /** Part of every name this run creates on a server that it may share with others. */
  id: string
  adminUrl: string
}

/** What every worker of one test run needs. */
export interface TestRun extends RunServer {
  redisUrl: string
  /** Deleted at the end of the run. */
  folder: string
}

/** A fresh id for a run. */
export function newRunId(): string {
  return randomBytes(4).toString('hex')
}

/** The run that this process belongs to, as the global set-up put it into the environment. */
export function currentTestRun(env: NodeJS.ProcessEnv = process.env): TestRun {
  const { TEST_RUN_ID: id, TEST_DATABASE_URL: adminUrl, TEST_REDIS_URL: redisUrl, TEST_RUN_FOLDER: folder } = env
  if (id === undefined || adminUrl === undefined || redisUrl === undefined || folder === undefined) {
    throw new Error('no test servers: name the global-setup.ts and global-teardown.ts of dev-env in jest.config.js')
  }
  becomeGuest(folder)
  return { id, adminUrl, redisUrl, folder }
}

/** A password that all workers of a run derive and that cannot be guessed. */
export function runPassword(run: RunServer, role: string): string {
  return createHash('sha256').update(`${run.adminUrl}\n${run.id}\n${role}`).digest('hex')
}
