// All tests in one run, with one Postgres and one Redis.
import { availableParallelism } from 'node:os'
import base from './jest.config.base.js'

export default {
  // Jest ignores the time limits of projects.
  testTimeout: base.testTimeout,
  projects: ['<rootDir>/packages/*', '<rootDir>/services/*'],
  // Much of the time is waiting for servers and processes that start, freeze and stop. Each worker has its own logical
  // database of Redis, and the tests expect at most seven of them.
  maxWorkers: Math.min(7, 2 * availableParallelism()),
  // Modules of earlier suites stay in memory, which makes each further suite slower. A new worker takes half a second.
  workerIdleMemoryLimit: '500MB',
  testSequencer: '<rootDir>/jest.sequencer.js',
}
