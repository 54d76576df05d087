import { Counter, Gauge, type Registry } from 'prom-client'
import { SEARCH_REFUSALS, type SearchCounters } from './search-turns.ts'

/** Searches in Prometheus. */
export function createSearchMetrics(
  registry: Registry,
  counts: () => { readonly running: number; readonly waiting: number },
): SearchCounters {
  const refused = new Counter({
    name: 'tracker_searches_refused_total',
    help: 'Searches that were refused, by reason: too many or too long ones of one member, too many of all members, or out of time.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of SEARCH_REFUSALS) refused.inc({ reason }, 0)
  new Gauge({
    name: 'tracker_searches',
    help: 'Searches under way, by state: running on a connection to Postgres, or waiting for their turn.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(counts())) this.set({ state }, count)
    },
  })
  return { countRefused: (reason) => refused.inc({ reason }) }
}
