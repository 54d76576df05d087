import { Counter, Gauge, type Registry } from 'prom-client'
import type { RequestLogCounters } from './request-log.ts'

/** The request log in Prometheus. */
export function createRequestLogMetrics(registry: Registry): RequestLogCounters {
  const written = new Counter({
    name: 'tracker_torznab_requests_written_total',
    help: 'Torznab requests written to the request log and its statistics.',
    registers: [registry],
  })
  const dropped = new Counter({
    name: 'tracker_torznab_requests_dropped_total',
    help: 'Torznab requests that were answered and could not be logged, because Postgres was unavailable for too long.',
    registers: [registry],
  })
  const waiting = new Gauge({
    name: 'tracker_torznab_requests_waiting',
    help: 'Torznab requests that were answered and not yet logged, on this process.',
    registers: [registry],
  })
  return {
    countWritten: (requests) => written.inc(requests),
    countDropped: (requests) => dropped.inc(requests),
    setWaiting: (requests) => waiting.set(requests),
  }
}
