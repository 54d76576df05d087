import { type AnnounceEvent, FAILURES, WARNINGS } from '@vault-and-tracker/bencode-tracker'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { AnnounceCounters, AnswerTimes } from './announce-counters.ts'

const EVENTS = ['none', 'started', 'completed', 'stopped', 'paused'] as const satisfies readonly AnnounceEvent[]

/** Announces and scrapes in Prometheus. Every series exists from the start, so that its first increase is visible. */
export function createAnnounceMetrics(registry: Registry): AnnounceCounters & AnswerTimes {
  // prom-client is as slow as a rule, so announces are counted here and added when the metrics are collected.
  const counted = { none: 0, started: 0, completed: 0, stopped: 0, paused: 0 }
  const announces = new Counter({
    name: 'tracker_announces_total',
    help: 'Announces carried out, by event.',
    labelNames: ['event'],
    registers: [registry],
    collect: () => {
      for (const event of EVENTS) {
        announces.labels(event).inc(counted[event])
        counted[event] = 0
      }
    },
  })
  const failures = new Counter({
    name: 'tracker_failures_total',
    help: 'Announces and scrapes refused, by rule.',
    labelNames: ['action', 'rule'],
    registers: [registry],
  })
  const warnings = new Counter({
    name: 'tracker_warnings_total',
    help: 'Announces answered with a warning, by rule.',
    labelNames: ['rule'],
    registers: [registry],
  })
  const anomalies = new Counter({
    name: 'tracker_notices_total',
    help: 'Anomalies of announces: peers of a lost swarm that rejoined, implausible counters, a peer id on two machines.',
    labelNames: ['what'],
    registers: [registry],
  })
  const scrapes = new Counter({
    name: 'tracker_scraped_torrents_total',
    help: 'Torrents returned in scrapes.',
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'tracker_announce_duration_seconds',
    help: 'Duration of announces and scrapes over HTTP in seconds, by action, from the request to its reply.',
    labelNames: ['action'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  for (const rule of Object.keys(FAILURES)) {
    failures.labels('announce', rule).inc(0)
    failures.labels('scrape', rule).inc(0)
  }
  for (const rule of Object.keys(WARNINGS)) warnings.labels(rule).inc(0)
  const answers = { announce: durations.labels('announce'), scrape: durations.labels('scrape') }
  return {
    timeAnswer: (action, seconds) => answers[action].observe(seconds),
    countAnnounce: (event) => {
      counted[event] += 1
    },
    countScrape: (torrents) => scrapes.inc(torrents),
    countFailure: (action, failure) => failures.labels(action, failure).inc(),
    countWarning: (warning) => warnings.labels(warning).inc(),
    countAnomaly: (anomaly) => anomalies.labels(anomaly).inc(),
  }
}
