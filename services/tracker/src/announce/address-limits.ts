import type { TrackerAction } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { type AnnounceLimit, createAnnounceLimit, type SharedCounts } from './announce-limit.ts'
import { limitKeyOf } from './peer-endpoints.ts'
import type { Refusal, Refusals } from './refusal.ts'

/** Limits per address (IPv6: its /64), whoever its users are and whatever the transport. Both throw when Redis is needed and unavailable. */
export type AddressLimits = {
  /** Counts a scrape. @returns why it is refused, if so */
  readonly refuseScrape: (address: Uint8Array) => Promise<Refusal | undefined>
  /** Counts a refusal because of an unknown passkey. @returns it, or another one if the address has sent too many such passkeys */
  readonly limitUnknownPasskeys: (action: TrackerAction, refusal: Refusal, address: Uint8Array) => Promise<Refusal>
}

/**
 * Creates the limits, each for a minute.
 *
 * @param options `scrapes` and `unknownPasskeys` 0 for no limit
 */
export function createAddressLimits(options: {
  scrapes: number
  unknownPasskeys: number
  refusals: Refusals
  counts: SharedCounts
  clock: Clock
}): AddressLimits {
  const { refusals, counts, clock } = options
  const takeFrom = (name: string, limit: AnnounceLimit) => (address: Uint8Array) =>
    limit.take(`${name}:${limitKeyOf(address)}`)
  const takeScrape = takeFrom('scrape', createAnnounceLimit({ limit: options.scrapes, counts, clock }))
  const takePasskey = takeFrom('passkey', createAnnounceLimit({ limit: options.unknownPasskeys, counts, clock }))
  return {
    refuseScrape: async (address) => {
      const wait = await takeScrape(address)
      return wait > 0 ? refusals.refuseOverLimit(wait, 'scrape', 'scrape_limit') : undefined
    },
    limitUnknownPasskeys: async (action, refusal, address) => {
      if (refusal.failure !== 'unknown_passkey') return refusal
      const wait = await takePasskey(address)
      return wait > 0 ? refusals.refuseOverLimit(wait, action, 'passkey_limit') : refusal
    },
  }
}
