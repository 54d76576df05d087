import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { addressKey } from '@vault-and-tracker/service-kit/http/client-address'
import { isRefusedValue } from '@vault-and-tracker/service-kit/postgres/pool'
import { createRefusalMetrics, createSealMetrics } from '../audit/audit.metrics.ts'
import { createAuditStore } from '../audit/audit.store.ts'
import { createAuditLog } from '../audit/audit-log.ts'
import { createRefusals } from '../audit/refusals.ts'
import { createSealer } from '../audit/sealer.ts'
import { createSealStore } from '../audit/seals.store.ts'
import type { Connections } from './connections.ts'

/** Rows are sealed about a second after their commit. */
const SEAL_EVERY_MS = 1_000
/** The log has partitions for three months ahead, so a failure on one day does no harm. */
const PARTITIONS_EVERY_MS = 86_400_000

/** Ended minutes of refused requests are written this often. */
const WRITE_REFUSALS_EVERY_MS = 10_000

/** The audit log, joined. */
export type AuditParts = Awaited<ReturnType<typeof createAuditParts>>

/** Joins the audit log; in the background it is sealed, and its next months are prepared. */
export async function createAuditParts({ chainKeys, db, clock, logger, metrics, background, onRefused }: Connections) {
  const store = createAuditStore(db)
  await store.ensurePartitions()
  const seals = createSealMetrics(metrics.registry)
  const sealer = createSealer({
    store: createSealStore(db),
    chainKey: () => chainKeys.current(),
    clock,
    onPass: (end) => {
      seals.sealed(clock.now())
      if (end !== undefined) logger.info(end, 'audit log sealed up to here')
    },
    onForged: (sealNo) => onRefused('audit_seals', { sealNo }),
  })
  const refusals = createRefusals({
    ...{ store, clock, addressKey, isRefusedValue },
    onDropped: (error) => {
      refusalMetrics.dropped()
      // The message of Postgres would repeat the value.
      logger.error({ sqlState: errorCode(error) }, 'an entry of refused requests was not accepted: it is left out')
    },
  })
  const refusalMetrics = createRefusalMetrics(metrics.registry, refusals.delayMs)
  const onWriteError = (error: unknown) => logger.warn({ err: error }, 'could not note refused requests; it is retried')
  // Before the sealer, whose last pass seals what this one writes at the stop.
  background.add({
    everyMs: WRITE_REFUSALS_EVERY_MS,
    task: refusals.writeEnded,
    onError: onWriteError,
    atStop: () => refusals.writeAll().catch(onWriteError),
  })
  background.add({
    everyMs: SEAL_EVERY_MS,
    task: () => sealer.sealNow(),
    onError: (error) => logger.warn({ err: error }, 'could not seal the audit log; it is retried'),
    atStop: () => sealer.finish(),
  })
  background.add({
    everyMs: PARTITIONS_EVERY_MS,
    task: () => store.ensurePartitions(),
    onError: (error) => logger.warn({ err: error }, 'could not create the next partitions of the audit log'),
  })
  return { audit: createAuditLog({ store, clock }), refusals, checks: { audit: refusals.check } }
}
