import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { type AnnounceLimit, createAnnounceLimit, type SharedCounts } from './announce-limit.ts'
import { limitKeyOf } from './peer-endpoints.ts'

/** Limits that hold for an address (IPv6: its /64), whoever its users are. */
export type AddressLimits = {
  /** Counts a scrape. @returns 0, or the seconds until the next one is accepted */
  readonly takeScrape: (address: Uint8Array) => number | Promise<number>
  /** Counts a passkey that nobody has. @returns 0, or the seconds until the count begins anew */
  readonly takeUnknownPasskey: (address: Uint8Array) => number | Promise<number>
}

/**
 * Creates the limits, each for a minute.
 *
 * @param options `scrapes` and `unknownPasskeys` 0 for no limit
 */
export function createAddressLimits(options: {
  scrapes: number
  unknownPasskeys: number
  counts: SharedCounts
  clock: Clock
}): AddressLimits {
  const { counts, clock } = options
  const takeFrom = (name: string, limit: AnnounceLimit) => (address: Uint8Array) =>
    limit.take(`${name}:${limitKeyOf(address)}`)
  return {
    takeScrape: takeFrom('scrape', createAnnounceLimit({ limit: options.scrapes, counts, clock })),
    takeUnknownPasskey: takeFrom('passkey', createAnnounceLimit({ limit: options.unknownPasskeys, counts, clock })),
  }
}
