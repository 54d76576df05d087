import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { addressKey } from '@vault-and-tracker/service-kit/http/client-address'
import { createAuditStore, isRefusedValue } from '../audit/audit.store.ts'
import { createAuditLog } from '../audit/audit.ts'
import { createRefusals } from '../audit/refusals.ts'
import { createSealStore } from '../integrity/chain.store.ts'
import { createSealer } from '../integrity/sealer.ts'
import type { Connections } from './connections.ts'

/** Rows are sealed about a second after their commit. */
const SEAL_EVERY_MS = 1_000
/** Partitions are created three months ahead, so a failed attempt does no harm. */
const PARTITIONS_EVERY_MS = 86_400_000
const WRITE_REFUSALS_EVERY_MS = 10_000

/** The audit log. */
export type AuditParts = Awaited<ReturnType<typeof createAuditParts>>

/** Creates the audit log and its background tasks. */
export async function createAuditParts({ chainKeys, db, clock, logger, metrics, background, onRefused }: Connections) {
  const store = createAuditStore(db)
  await store.ensurePartitions()
  const sealer = createSealer({
    store: createSealStore(db),
    chainKeys,
    clock,
    onPass: (end) => {
      metrics.logSealed(clock.now())
      if (end !== undefined) logger.info(end, 'audit log sealed')
    },
    onRefused,
  })
  const refusals = createRefusals({
    ...{ store, clock, addressKey, isRefusedValue },
    onDropped: (error) => {
      metrics.refusalDropped()
      // The message of Postgres may contain the value.
      logger.error({ sqlState: errorCode(error) }, 'audit entry of refused requests dropped')
    },
  })
  metrics.observeRefusalsDelay(refusals.delayMs)
  const onWriteError = (error: unknown) => logger.warn({ err: error }, 'writing refused requests failed; will retry')
  // Before the sealer, so that the sealer's last pass at the stop seals these entries.
  background.add({
    everyMs: WRITE_REFUSALS_EVERY_MS,
    task: refusals.writeEnded,
    onError: onWriteError,
    atStop: () => refusals.writeAll().catch(onWriteError),
  })
  background.add({
    everyMs: SEAL_EVERY_MS,
    task: () => sealer.sealNow(),
    onError: (error) => logger.warn({ err: error }, 'sealing the audit log failed; will retry'),
    atStop: () => sealer.finish(),
  })
  background.add({
    everyMs: PARTITIONS_EVERY_MS,
    task: () => store.ensurePartitions(),
    onError: (error) => logger.warn({ err: error }, 'creating audit log partitions failed; will retry'),
  })
  return { audit: createAuditLog({ store, clock }), refusals, checks: { audit: refusals.check } }
}
