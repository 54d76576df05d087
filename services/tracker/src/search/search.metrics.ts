import { Counter, Gauge, type Registry } from 'prom-client'
import { SEARCH_REFUSALS, type SearchCounters } from './search-queue.ts'

/** Searches in Prometheus. */
export function createSearchMetrics(
  registry: Registry,
  counts: () => { readonly running: number; readonly waiting: number },
): SearchCounters {
  const refused = new Counter({
    name: 'tracker_searches_refused_total',
    help: 'Refused searches by reason: too many or too long searches of a member, too many in total, or a timeout.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of SEARCH_REFUSALS) refused.inc({ reason }, 0)
  new Gauge({
    name: 'tracker_searches',
    help: 'Searches in progress by state: running on a connection to Postgres, or waiting for their turn.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(counts())) this.set({ state }, count)
    },
  })
  return { countRefused: (reason) => refused.inc({ reason }) }
}
