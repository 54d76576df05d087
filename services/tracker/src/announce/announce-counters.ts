import type { AnnounceEvent, FailureName, WarningName } from '@vault-and-tracker/bencode-tracker'

/** What is counted of announces and scrapes; every rule has its own count. */
export type AnnounceCounters = {
  announced(event: AnnounceEvent): void
  scraped(torrents: number): void
  failed(action: 'announce' | 'scrape', name: FailureName): void
  warned(name: WarningName): void
  /** The swarm noticed something that the client is not told. */
  noticed(what: 'rejoined' | 'implausible'): void
}
