import { Counter, Gauge, type Registry } from 'prom-client'
import type { FlushCounters } from './accounting.ts'

/** Flushes in Prometheus. */
export function createAccountingMetrics(registry: Registry): FlushCounters {
  const written = new Counter({
    name: 'tracker_accounting_batches_written_total',
    help: 'Accounting batches written to Postgres.',
    registers: [registry],
  })
  const failed = new Counter({
    name: 'tracker_accounting_failures_total',
    help: 'Accounting batches that could not be read or written and are retried.',
    registers: [registry],
  })
  const waiting = new Gauge({
    name: 'tracker_accounting_batches_waiting',
    help: 'Accounting batches that are due but not written to Postgres, in the leading process.',
    registers: [registry],
  })
  return {
    countFlush: (result) => {
      written.inc(result.written)
      failed.inc(result.failed)
      waiting.set(result.failed)
    },
    leaveToAnother: () => waiting.set(0),
  }
}
