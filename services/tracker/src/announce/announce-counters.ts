import type { AnnounceEvent, FailureName, TrackerAction, WarningName } from '@vault-and-tracker/bencode-tracker'

/** What is counted of announces and scrapes, whatever the transport. */
export type AnnounceCounters = {
  /** An announce that was carried out. */
  countAnnounce(event: AnnounceEvent): void
  /** A scrape that was answered, with so many torrents. */
  countScrape(torrents: number): void
  countFailure(action: TrackerAction, failure: FailureName): void
  countWarning(warning: WarningName): void
  /** Something unusual about an announce that the reply does not show; see `SwarmAnswer`. */
  countAnomaly(anomaly: 'rejoined' | 'implausible' | 'elsewhere'): void
}

/** How long announces and scrapes over HTTP take, from the parsed request to its reply. */
export type AnswerTimes = {
  timeAnswer(action: TrackerAction, seconds: number): void
}
