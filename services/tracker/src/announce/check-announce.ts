import type { FailureName } from '@vault-and-tracker/bencode-tracker'
import type { RecordAddress } from '../addresses/addresses.ts'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { Announce } from './announce.ts'
import { type AnnounceTorrent, bestOf, type PasskeyUser, type Rates } from './lookups.ts'
import { addressOwner, NO_ENDPOINTS } from './peer-endpoints.ts'
import type { Refusal, Refusals } from './refusal.ts'
import { RULES, type Rule, type RuleOptions, type TrackerMode } from './rules.ts'

/** The second station: the rules. */
export type Announces = {
  /** Applies the rules and calls `accepted` or `refused`, synchronously if all lookups are cached. */
  check(announce: Announce): void
}

/** Creates the second station, with the rules that apply in the given mode. */
export function createAnnounces(
  options: RuleOptions & {
    readonly mode: TrackerMode
    readonly refusals: Refusals
    readonly recordAddress: Pick<RecordAddress, 'ofBytes'>
  },
): Announces {
  const { refusals, recordAddress } = options
  const rules = options.mode === 'open' ? RULES.filter(({ isForOpenMode }) => isForOpenMode) : RULES

  /** The result of the first rule that returns one. */
  const find = (announce: Announce): ReturnType<Rule['check']> => {
    for (const rule of rules) {
      const found = rule.check(announce, options)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Over the limit, no other failure is reported, because the rule of the limit comes before the others. */
  const limited = (announce: Announce, found: ReturnType<Rule['check']>): ReturnType<Rule['check']> => {
    const { over } = announce
    if (over === null || over === undefined || found === 'announce_limit') return found
    if (typeof found === 'string') over.refusedByRule()
    return typeof found === 'string' || (found === undefined && announce.skipsSwarm) ? 'announce_limit' : found
  }

  const check = (announce: Announce): void => {
    try {
      const found = limited(announce, find(announce))
      if (typeof found === 'string') {
        announce.refused(refusalOf(announce, found, refusals))
      } else if (found === undefined) {
        announce.peer = peerOf(announce)
        if (announce.user) recordAddress.ofBytes(announce.user.id, 'announce', announce.address)
        announce.accepted()
      } else {
        found.then(
          () => check(announce),
          (error: unknown) => announce.failed(error),
        )
      }
    } catch (error) {
      announce.failed(error)
    }
  }

  return { check }
}

function refusalOf(announce: Announce, failure: FailureName, refusals: Refusals): Refusal {
  const { passkeyWait, torrent } = announce
  if (failure === 'announce_limit') return announce.refusalOverLimit(refusals)
  if (failure === 'passkey_limit') return refusals.refuseOverLimit('announce', failure, passkeyWait ?? 0)
  if (failure === 'client_not_allowed')
    return refusals.refuse('announce', failure, announce.site?.clients.explain(announce.request.peerId))
  const saysWhy = failure === 'deleted_torrent' || failure === 'rejected_torrent'
  return refusals.refuse('announce', failure, saysWhy ? torrent?.reason : undefined)
}

/** The announce as input for the swarm. */
function peerOf(announce: Announce): PeerAnnounce {
  const { request, user, torrent, site, overSocket, over } = announce
  const endpoints = announce.endpoints ?? NO_ENDPOINTS
  const { kind, state } = transition(request.event, request.left)
  return {
    swarm: torrent?.swarm ?? Buffer.from(request.infoHash, 'hex'),
    owner: user?.owner ?? overSocket?.owner() ?? addressOwner(endpoints, request),
    peerId: request.peerId,
    ipv4: endpoints.ipv4,
    ipv6: endpoints.ipv6,
    kind,
    state,
    uploaded: request.uploaded,
    downloaded: request.downloaded,
    left: request.left,
    want: state === 'stopped' || over ? 0 : request.numwant,
    withPeerIds: !request.compact,
    completed: torrent?.completed ?? 0,
    expectedPeers: torrent?.peers ?? 0,
    account: user && torrent && site ? accountOf(user, torrent, site) : undefined,
    admits: over?.admits,
  }
}

/** The account that a transfer is credited to, with its rates. */
function accountOf(user: PasskeyUser, torrent: AnnounceTorrent, site: Rates): PeerAnnounce['account'] {
  const { uploadPercent, downloadPercent } = bestOf([user, torrent, site])
  return { user: user.idBytes, torrent: torrent.id, uploadPercent, downloadPercent }
}
