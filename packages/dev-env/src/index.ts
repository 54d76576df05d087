export { withClient } from './databases/admin.ts'
export { type DatabasePlan, dropDatabase, provisionDatabase } from './databases/provision.ts'
export { type Transfer, type Transferred, transferFile } from './exchange/exchange.ts'
export { type PostgresOptions, type PrivatePostgres, startPostgres } from './postgres/postgres.ts'
export { removeTemporaryFolder, temporaryFolder } from './postgres/temporary-folder.ts'
export { findProgram } from './processes/command.mjs'
export {
  type Ended,
  killAll,
  type ManagedProcess,
  type ProcessSpec,
  startProcess,
  stopAll,
} from './processes/managed-process.ts'
export { freePort } from './processes/ports.ts'
export { sourceArguments } from './processes/source.ts'
export { type PrivateRedis, type RedisOptions, startRedis } from './redis/redis.ts'
export { eventually } from './testing/eventually.ts'
export { startTestServers, type TestServers } from './testing/servers.ts'
export { type CommandOutcome, captureCommand } from './testing/terminal.ts'
export { createTestClock, type TestClock } from './testing/test-clock.ts'
export {
  createTestDatabase,
  type Migrate,
  type TestDatabase,
  type TestDatabaseOptions,
} from './testing/test-database.ts'
export { type TestRedis, testRedis } from './testing/test-redis.ts'
