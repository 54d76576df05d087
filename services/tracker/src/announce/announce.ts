import {
  type AnnounceEvent,
  type AnnounceListReply,
  type AnnounceReply,
  type AnnounceRequest,
  type Passkey,
  WARNINGS,
  type WarningName,
} from '@vault-and-tracker/bencode-tracker'
import { recoveryInterval, withJitter } from '../swarm/interval.ts'
import { listPeers, selectPeers } from '../swarm/selection.ts'
import type { SwarmAnswer, Swarms } from '../swarm/swarm.ts'
import type { CheckAnnounce } from './announce-check.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { PeerEndpoints } from './peer-endpoints.ts'
import type { Refusal } from './refusal.ts'

/** The intervals of answers, in seconds. */
export type AnnounceSettings = {
  readonly interval: number
  readonly minInterval: number
}

/**
 * The outcome of an announce: a refusal, or everything that a reply says, with the peers in the form that the request
 * asked for.
 */
export type AnnounceOutcome =
  | Refusal
  | (AnnounceReply & { readonly failure: undefined; readonly compact: true })
  | (AnnounceListReply & { readonly failure: undefined; readonly compact: false })

/** The announces of one tracker. */
export type Announces = {
  /**
   * Checks an announce against the rules in their order, carries it out and chooses peers.
   *
   * @param address where it came from, 4 or 16 bytes
   * @throws what `isUnavailable` recognises when Postgres or Redis is needed and unavailable
   */
  announce(request: AnnounceRequest, passkey: Passkey | undefined, address: Uint8Array): Promise<AnnounceOutcome>
}

/** The swarm's answer, or what stands for it where the swarm is not asked. */
type Answer = Omit<SwarmAnswer, 'status'> & { readonly status: 'accepted' | WarningName }

const PENDING_MODERATION: Answer = {
  status: 'pending_moderation',
  rejoined: false,
  implausible: false,
  recovering: false,
  complete: 0,
  incomplete: 0,
  completed: 0,
  lastAnnounce: 0,
  elsewhere: false,
  recordCount: 0,
  records: Buffer.alloc(0),
  now: 0,
}

const UNKNOWN_STOPPED: Answer = { ...PENDING_MODERATION, status: 'stopped_unknown_peer' }

/** Creates the use case; `random` gives numbers from 0 to 1. */
export function createAnnounces(options: {
  settings: AnnounceSettings
  checkAnnounce: CheckAnnounce
  swarms: Pick<Swarms, 'announce'>
  counters: AnnounceCounters
  random: () => number
}): Announces {
  const { settings, checkAnnounce, swarms, counters, random } = options

  /**
   * The outcome of an announce that was not refused.
   *
   * @param endpoints the requester's own, which are left out of the peers, where one client may have several owners
   */
  const accept = (
    request: AnnounceRequest,
    externalIp: Uint8Array,
    answer: Answer,
    owner: Buffer,
    endpoints: PeerEndpoints | undefined,
  ): AnnounceOutcome => {
    const { now } = answer
    const name = answer.status === 'accepted' ? undefined : answer.status
    countAnnounce(counters, request.event, answer, name)

    const regular = answer.recovering ? recoveryInterval(settings.interval) : settings.interval
    const minimum = Math.min(settings.minInterval, regular)
    const fixed = name && warningInterval(name, answer.lastAnnounce + minimum - now)
    const interval = fixed ?? withJitter(regular, random)
    const minInterval = fixed ?? minimum

    const { complete, incomplete, completed: downloaded } = answer
    const { trackerId, noPeerId, numwant: want } = request
    const warning = name && WARNINGS[name].message
    const requester = { owner, endpoints, want, now, random: Math.floor(random() * 0x1_0000_0000) }
    // One literal each and no spread: such an object is made for nearly every request there is.
    if (request.compact) {
      const { peers, peers6 } = selectPeers(answer, requester)
      return {
        failure: undefined,
        compact: true,
        complete,
        incomplete,
        downloaded,
        interval,
        minInterval,
        externalIp,
        trackerId,
        warning,
        peers,
        peers6,
      }
    }
    return {
      failure: undefined,
      compact: false,
      complete,
      incomplete,
      downloaded,
      interval,
      minInterval,
      externalIp,
      trackerId,
      warning,
      peers: listPeers(answer, requester),
      noPeerId,
    }
  }

  return {
    announce: async (request, passkey, address) => {
      const checked = await checkAnnounce(request, passkey, address)
      if (checked.failure !== undefined) return checked
      const { peer, user, endpoints, isPending, isStopOfNobody } = checked
      const instead = isPending ? PENDING_MODERATION : isStopOfNobody === true ? UNKNOWN_STOPPED : undefined
      const answer = instead ?? (await swarms.announce(peer))
      return accept(request, address, answer, peer.owner, user ? undefined : endpoints)
    },
  }
}

/** The interval of an answer with a warning, in seconds; undefined for the regular one. */
function warningInterval(name: WarningName, untilAllowed: number): number | undefined {
  return name === 'announce_too_soon' ? Math.max(1, untilAllowed) : WARNINGS[name].interval
}

/** Counts an announce that was carried out, and what was unusual about it. */
export function countAnnounce(
  counters: AnnounceCounters,
  event: AnnounceEvent,
  answer: Pick<Answer, 'rejoined' | 'implausible' | 'elsewhere'>,
  warning: WarningName | undefined,
): void {
  counters.countAnnounce(event)
  if (warning !== undefined) counters.countWarning(warning)
  if (answer.rejoined) counters.countAnomaly('rejoined')
  if (answer.implausible) counters.countAnomaly('implausible')
  if (answer.elsewhere) counters.countAnomaly('elsewhere')
}
