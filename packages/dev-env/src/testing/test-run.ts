import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from '../processes/identity.mjs'
import type { Stoppable } from '../processes/stop.mjs'

/** A server to create databases on, and the id of the run. */
export type RunServer = {
  /** Part of every name this run creates on a server that it may share with others. */
  id: string
  adminUrl: string
}

/** What every worker of one test run needs. */
export type TestRun = {
  redisUrl: string
  /** Deleted at the end of the run. */
  folder: string
} & RunServer

/** The prefix of the names of all databases and roles of a run, by which the run drops them. */
export function runPrefix(run: Pick<RunServer, 'id'>): string {
  return `test_${run.id}_`
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

/**
 * Notes this process as a user of the run's servers. When jest is killed, a worker with an open handle would keep running;
 * the reaper of the run stops it together with the servers.
 */
export function becomeGuest(runFolder: string | undefined = process.env['TEST_RUN_FOLDER']): void {
  const identity = identityOf(process.pid)
  if (runFolder === undefined || identity === undefined) return
  const guest: Stoppable = { pid: process.pid, identity, stopSignal: 'SIGKILL', graceMs: 1000, phase: 0 }
  mkdirSync(join(runFolder, 'guests'), { recursive: true, mode: 0o700 })
  writeFileSync(join(runFolder, 'guests', String(process.pid)), JSON.stringify({ process: guest }))
}
