import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { type RepeatedTask, repeat } from '@vault-and-tracker/service-kit/repeat'
import type { AuditStore } from '../audit/audit.ts'
import type { Sealer } from '../audit/sealer.ts'

/** What the service does beside requests, from its start to its stop. */
export type Background = {
  start(): void
  /** Stops all of it. The audit log is sealed to its end. */
  stop(): Promise<void>
}

/** The log has partitions for three months ahead, so a failure on one day does no harm. */
const PARTITIONS_MS = 86_400_000

/** Seals the audit log and prepares its next months. Nothing runs before `start`. */
export function createBackground(deps: {
  sealer: Sealer
  audit: Pick<AuditStore, 'ensurePartitions'>
  logger: Logger
}): Background {
  const { sealer, audit, logger } = deps
  let partitions: RepeatedTask | undefined
  return {
    start: () => {
      sealer.start()
      partitions = repeat({
        everyMs: PARTITIONS_MS,
        task: () => audit.ensurePartitions(),
        onError: (error) => logger.warn({ err: error }, 'could not create the next partitions of the audit log'),
      })
    },
    stop: async () => {
      await partitions?.stop()
      await sealer.stop()
    },
  }
}
