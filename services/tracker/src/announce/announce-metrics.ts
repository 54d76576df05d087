import { FAILURES, WARNINGS } from '@vault-and-tracker/bencode-tracker'
import { Counter, type Registry } from 'prom-client'
import type { AnnounceCounters } from './announce-counters.ts'

/** Counts in Prometheus. Every name is there from the start with zero, so that a first increase is seen as one. */
export function createAnnounceMetrics(registry: Registry): AnnounceCounters {
  const announces = new Counter({
    name: 'tracker_announces_total',
    help: 'Announces carried out, by event.',
    labelNames: ['event'],
    registers: [registry],
  })
  const failures = new Counter({
    name: 'tracker_failures_total',
    help: 'Announces and scrapes refused, by the rule that refused them.',
    labelNames: ['action', 'rule'],
    registers: [registry],
  })
  const warnings = new Counter({
    name: 'tracker_warnings_total',
    help: 'Announces answered with a warning, by the rule that caused it.',
    labelNames: ['rule'],
    registers: [registry],
  })
  const notices = new Counter({
    name: 'tracker_notices_total',
    help: 'What was noticed of announces and not told: peers the swarm had forgotten, counters beyond belief.',
    labelNames: ['what'],
    registers: [registry],
  })
  const scrapes = new Counter({
    name: 'tracker_scraped_torrents_total',
    help: 'Torrents told about in scrapes.',
    registers: [registry],
  })
  for (const rule of Object.keys(FAILURES)) {
    failures.labels('announce', rule).inc(0)
    failures.labels('scrape', rule).inc(0)
  }
  for (const rule of Object.keys(WARNINGS)) warnings.labels(rule).inc(0)
  // A bound child costs a tenth of looking its labels up.
  const events = {
    none: announces.labels('none'),
    started: announces.labels('started'),
    completed: announces.labels('completed'),
    stopped: announces.labels('stopped'),
    paused: announces.labels('paused'),
  }
  return {
    announced: (event) => events[event].inc(),
    scraped: (torrents) => scrapes.inc(torrents),
    failed: (action, name) => failures.labels(action, name).inc(),
    warned: (name) => warnings.labels(name).inc(),
    noticed: (what) => notices.labels(what).inc(),
  }
}
