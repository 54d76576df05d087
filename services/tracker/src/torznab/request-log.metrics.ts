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
    help: 'Answered Torznab requests that could not be logged because Postgres was unavailable for too long.',
    registers: [registry],
  })
  const waiting = new Gauge({
    name: 'tracker_torznab_requests_waiting',
    help: 'Answered Torznab requests that this process has not logged yet.',
    registers: [registry],
  })
  return {
    countWritten: (requests) => written.inc(requests),
    countDropped: (requests) => dropped.inc(requests),
    setWaiting: (requests) => waiting.set(requests),
  }
}
