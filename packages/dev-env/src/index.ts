export { provisionDatabase, withClient } from '@vault-and-tracker/service-kit/postgres/provision'
export type { PrivateServer } from './databases/private-server.ts'
export { transferFile } from './exchange/exchange.ts'
export { postgresAccount } from './postgres/account.ts'
export { startPostgres } from './postgres/postgres.ts'
export { removeTemporaryFolder, temporaryFolder } from './postgres/temporary-folder.ts'
export { type ManagedProcess, startProcess, stopAll } from './processes/managed-process.ts'
export { freePort } from './processes/ports.ts'
export { installPackages, requireProgram } from './processes/programs.mjs'
export { redisProgram, startRedis } from './redis/redis.ts'
export { type SentinelGroup, startRedisWithSentinels } from './redis/sentinels.ts'
export { type AlertRecorder, recordAlerts } from './testing/alert-recorder.ts'
export { type Askers, askUntilRefused } from './testing/ask-until-refused.ts'
export { startCaddy } from './testing/caddy.ts'
export { type CertificateFiles, createAuthority, createCertificate } from './testing/certificates.ts'
export { type DurableServers, startDurableServers } from './testing/durable-servers.ts'
export { eventually } from './testing/eventually.ts'
export {
  IDLE_SCALE,
  NGINX_KEEPS_MS,
  type Nginx,
  raceIdleEnds,
  replicaAddresses,
  restartUnderLoad,
  sendThrough,
  startNginx,
} from './testing/nginx.ts'
export { type PgBouncer, startPgBouncer } from './testing/pgbouncer.ts'
export type { Proxy } from './testing/proxy.ts'
export { type CommandOutcome, captureCommand } from './testing/terminal.ts'
export { createTestClock, type TestClock } from './testing/test-clock.ts'
export { type ApplyMigrations, createTestDatabase, type TestDatabase } from './testing/test-database.ts'
export { type TestRedis, testRedis } from './testing/test-redis.ts'
export { randomFrom, TRIALS } from './testing/trials.ts'
export { askUnread, memoryOf } from './testing/unread.ts'
export { createVisits, launchChromium, type View, type Visit, visitPage } from './testing/visit.ts'
export { startDemoClients } from './world/demo-clients.ts'
export { demoContent, PIECE_BYTES, pieceHashes } from './world/demo-torrent.ts'
export { nodeFlagsOf, SOURCE_ARGUMENTS, sourceArguments, testedArguments } from './world/services.ts'
export type { DemoSwarm } from './world/state.ts'
