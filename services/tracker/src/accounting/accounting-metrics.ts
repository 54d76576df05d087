import { Counter, Gauge, type Registry } from 'prom-client'
import type { FlushRound } from './accounting.ts'

/** Counts flushes in Prometheus. */
export function createAccountingMetrics(registry: Registry): (round: FlushRound) => void {
  const written = new Counter({
    name: 'tracker_accounting_batches_written_total',
    help: 'Batches of accounting written to Postgres.',
    registers: [registry],
  })
  const failed = new Counter({
    name: 'tracker_accounting_failures_total',
    help: 'Batches of accounting that could not be read or written and are tried again.',
    registers: [registry],
  })
  const waiting = new Gauge({
    name: 'tracker_accounting_batches_waiting',
    help: 'Batches of accounting that were taken and not written yet, of the process that leads.',
    registers: [registry],
  })
  return (round) => {
    written.inc(round.written)
    failed.inc(round.failed)
    waiting.set(round.waiting + round.failed)
  }
}
