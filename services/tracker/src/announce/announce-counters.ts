import type { AnnounceEvent, FailureName, TrackerAction, WarningName } from '@vault-and-tracker/bencode-tracker'

/** Counters of announces and scrapes, for all transports. */
export type AnnounceCounters = {
  /** Counts an announce that was carried out. */
  countAnnounce(event: AnnounceEvent): void
  /** Counts a scrape by the number of torrents in its reply. */
  countScrape(torrents: number): void
  countFailure(action: TrackerAction, failure: FailureName): void
  countWarning(warning: WarningName): void
  /** Counts an anomaly that the reply does not show; see `SwarmAnswer`. */
  countAnomaly(anomaly: 'rejoined' | 'implausible' | 'elsewhere'): void
}

/** Durations of announces and scrapes over HTTP, from the request to its reply. */
export type AnswerTimes = {
  timeAnswer(action: TrackerAction, seconds: number): void
}
