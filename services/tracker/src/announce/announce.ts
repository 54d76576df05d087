import {
  type AnnounceListReply,
  type AnnounceReply,
  type AnnounceRequest,
  type FailureName,
  isRefusedPort,
  type Passkey,
  WARNINGS,
  type WarningName,
} from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { recoveryInterval, withJitter } from '../swarm/interval.ts'
import { transition } from '../swarm/peer-state.ts'
import { listPeers, selectPeers } from '../swarm/selection.ts'
import type { PeerAnnounce, SwarmAnswer, Swarms } from '../swarm/swarm.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { AnnounceLimit } from './announce-limit.ts'
import { type ClientRules, isClientAllowed } from './clients.ts'
import type { AnnounceTorrent, AnnounceUser, Directory, Multipliers } from './directory.ts'
import type { Identify } from './identify.ts'
import { bestOf } from './multipliers.ts'
import { addressOwner, endpointsOf, limitKeyOf, type PeerEndpoints } from './peer-endpoints.ts'
import type { Refusal, Refusals } from './refusal.ts'

/** How announces are answered; the times in seconds. */
export type AnnounceSettings = {
  readonly interval: number
  readonly minInterval: number
  /** Whether loopback and private addresses are handed out. */
  readonly allowPrivatePeers: boolean
  /** Whether the addresses that clients claim count. */
  readonly allowIpParam: boolean
  readonly clients: ClientRules
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
   * @throws UnavailableError when Postgres or Redis had to be asked and is away
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
  recordCount: 0,
  records: Buffer.alloc(0),
}

/** Creates the use case; `random` gives numbers from 0 to 1. */
export function createAnnounces(options: {
  settings: AnnounceSettings
  identify: Identify
  directory: Directory
  limit: AnnounceLimit
  swarms: Swarms
  refusals: Refusals
  counters: AnnounceCounters
  clock: Clock
  random: () => number
}): Announces {
  const { settings, identify, directory, limit, swarms, counters, clock, random } = options
  const { refuse, refuseOverLimit } = options.refusals

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
    const now = clock.now() / 1000
    const name = answer.status === 'accepted' ? undefined : answer.status
    count(counters, request, answer, name)

    const regular = answer.recovering ? recoveryInterval(settings.interval) : settings.interval
    const minimum = Math.min(settings.minInterval, regular)
    const fixed =
      name === 'announce_too_soon'
        ? Math.max(1, answer.lastAnnounce + minimum - Math.floor(now))
        : name && WARNINGS[name].interval
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
      const identified = identify(passkey)
      const user = identified instanceof Promise ? await identified : identified
      if (typeof user === 'string') return refuse('announce', user)

      const endpoints = endpointsOf(request, address, settings)
      if (typeof endpoints === 'string') return refuse('announce', endpoints)

      const taken = limit.take(user ? user.key : limitKeyOf(address))
      const wait = typeof taken === 'number' ? taken : await taken
      if (wait > 0) return refuseOverLimit(wait)

      const clientFailure = checkClient(request, settings.clients)
      if (clientFailure !== undefined) return refuse('announce', clientFailure)
      if (!user) {
        const peer = peerOf(request, endpoints, addressOwner(endpoints, request), undefined, undefined)
        return accept(request, address, await swarms.announce(peer), peer.owner, endpoints)
      }

      const found = directory.torrent(request.infoHash)
      const torrent = found instanceof Promise ? await found : found
      if (torrent === undefined) return refuse('announce', 'unregistered_torrent')
      const torrentFailure = checkTorrent(torrent)
      if (torrentFailure !== undefined) return refuse('announce', torrentFailure, torrent.reason)
      const isStop = request.event === 'stopped'
      if (!user.canDownload && request.left > 0 && !isStop) return refuse('announce', 'downloads_disabled')
      if (torrent.state === 'pending' && !isStop)
        return accept(request, address, PENDING_MODERATION, user.owner, undefined)

      const multipliers = directory.siteMultipliers()
      const site = multipliers instanceof Promise ? await multipliers : multipliers
      const account = site && accountOf(user, torrent, site)
      const peer = peerOf(request, endpoints, user.owner, torrent, account)
      return accept(request, address, await swarms.announce(peer), user.owner, undefined)
    },
  }
}

function count(
  counters: AnnounceCounters,
  request: AnnounceRequest,
  answer: Answer,
  warning: WarningName | undefined,
): void {
  counters.countAnnounce(request.event)
  if (warning !== undefined) counters.countWarning(warning)
  if (answer.rejoined) counters.countAnomaly('rejoined')
  if (answer.implausible) counters.countAnomaly('implausible')
}

/** Rules about the client. A peer may stop from any port: it was never accepted with a refused one. */
function checkClient(request: AnnounceRequest, rules: ClientRules): FailureName | undefined {
  if (!isClientAllowed(request.peerId, rules)) return 'client_not_allowed'
  if (isRefusedPort(request.port) && request.event !== 'stopped') return 'refused_port'
  return undefined
}

/** Rules about the torrent. */
function checkTorrent(torrent: AnnounceTorrent): FailureName | undefined {
  if (torrent.state === 'deleted') return 'deleted_torrent'
  if (torrent.state === 'rejected') return 'rejected_torrent'
  return undefined
}

/** The announce for the swarm; without torrent and account in open mode. */
function peerOf(
  request: AnnounceRequest,
  endpoints: PeerEndpoints,
  owner: Buffer,
  torrent: AnnounceTorrent | undefined,
  account: PeerAnnounce['account'],
): PeerAnnounce {
  const { kind, state } = transition(request.event, request.left)
  return {
    swarm: torrent?.swarm ?? Buffer.from(request.infoHash, 'hex'),
    owner,
    peerId: request.peerId,
    ipv4: endpoints.ipv4,
    ipv6: endpoints.ipv6,
    kind,
    state,
    uploaded: request.uploaded,
    downloaded: request.downloaded,
    left: request.left,
    want: state === 'stopped' ? 0 : request.numwant,
    withPeerIds: !request.compact,
    completed: torrent?.completed ?? 0,
    expectedPeers: torrent?.peers ?? 0,
    account,
  }
}

/** To whom a transfer counts, and how much of it. */
function accountOf(
  user: AnnounceUser,
  torrent: AnnounceTorrent,
  site: Multipliers,
): NonNullable<PeerAnnounce['account']> {
  return { id: Buffer.concat([user.id, torrent.id]), ...bestOf([user, torrent, site]) }
}
