import { type AnnounceRequest, type FailureName, isRefusedPort, type Passkey } from '@vault-and-tracker/bencode-tracker'
import { isUnavailable } from '@vault-and-tracker/service-kit/unavailable'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { AnnounceLimit } from './announce-limit.ts'
import { type ClientRules, isClientAllowed } from './client-rules.ts'
import { type AnnounceTorrent, type AnnounceUser, bestOf, type Directory, type Multipliers } from './directory.ts'
import type { Identify } from './identify.ts'
import { addressOwner, endpointsOf, limitKeyOf, type PeerEndpoints } from './peer-endpoints.ts'
import type { Refusal, Refusals } from './refusal.ts'

/** What announces are checked by. */
export type AnnounceCheckSettings = {
  /** Whether loopback and private addresses are handed out. */
  readonly allowPrivatePeers: boolean
  /** Whether the addresses that clients claim count. */
  readonly allowIpParam: boolean
  readonly clients: ClientRules
}

/** An announce that no rule refuses. */
export type CheckedAnnounce = {
  readonly failure: undefined
  /** Undefined in open mode. */
  readonly user: AnnounceUser | undefined
  readonly endpoints: PeerEndpoints
  /** The torrent waits for moderation, so the swarm must not hear of the announce. */
  readonly isPending: boolean
  /** It is a stop with a passkey that nobody has, or nobody has any more. The swarm has no such peer. */
  readonly isStopOfNobody?: boolean
  /** The announce for the swarm. */
  readonly peer: PeerAnnounce
}

/**
 * Checks an announce against the rules in their order, whatever its transport.
 *
 * @param address where it came from, 4 or 16 bytes
 * @param socketOwner of an announce over a socket: 8 bytes, in open mode the owner of its peers. Such a peer has no
 *   address, whatever the client claims
 * @throws what `isUnavailable` recognises when Postgres or Redis is needed and unavailable
 */
export type CheckAnnounce = (
  request: AnnounceRequest,
  passkey: Passkey | undefined,
  address: Uint8Array,
  socketOwner?: () => Buffer,
) => Promise<Refusal | CheckedAnnounce>

/** Creates the check. */
export function createAnnounceCheck(options: {
  settings: AnnounceCheckSettings
  identify: Identify
  directory: Directory
  limit: AnnounceLimit
  refusals: Refusals
}): CheckAnnounce {
  const { settings, identify, directory, limit } = options
  const { refuse, refuseOverLimit } = options.refusals

  /** Whose peer stops that is refused otherwise; undefined when nobody has the passkey. */
  const stopping = (why: FailureName, passkey: Passkey | undefined) =>
    passkey === undefined ? why : directory.user(passkey)

  return async (request, passkey, address, socketOwner) => {
    const identified = identify(passkey)
    const isStop = request.event === 'stopped'
    const who = identified instanceof Promise ? await identified : identified
    // Who may not announce any more may stop: a client that is refused repeats it without end.
    const user = typeof who === 'string' && isStop && !socketOwner ? await stopping(who, passkey) : who
    if (typeof user === 'string') return refuse('announce', user)

    const endpoints = socketOwner ? NO_ENDPOINTS : endpointsOf(request, address, settings)
    if (typeof endpoints === 'string') return refuse('announce', endpoints)

    const taken = limit.take(user ? user.limitKey : limitKeyOf(address))
    const wait = typeof taken === 'number' ? taken : await (isStop ? taken.catch(uncounted) : taken)
    if (wait > 0) return refuseOverLimit(wait)

    if (!isClientAllowed(request.peerId, settings.clients)) return refuse('announce', 'client_not_allowed')
    // A peer may stop from any port: it was never accepted with a refused one.
    if (!socketOwner && !isStop && isRefusedPort(request.port)) return refuse('announce', 'refused_port')
    if (!user) {
      const owner = socketOwner ? socketOwner() : addressOwner(endpoints, request)
      const peer = peerOf(request, endpoints, owner, undefined, undefined)
      const isStopOfNobody = typeof who === 'string'
      return { failure: undefined, user, endpoints, isPending: false, isStopOfNobody, peer }
    }

    const found = directory.torrent(request.infoHash)
    const torrent = found instanceof Promise ? await found : found
    if (torrent === undefined) return refuse('announce', 'unregistered_torrent')
    const torrentFailure = checkTorrent(torrent)
    if (torrentFailure !== undefined) return refuse('announce', torrentFailure, torrent.reason)
    if (!user.canDownload && request.left > 0 && !isStop) return refuse('announce', 'downloads_disabled')

    const multipliers = directory.siteMultipliers()
    const site = multipliers instanceof Promise ? await multipliers : multipliers
    const peer = peerOf(request, endpoints, user.owner, torrent, site && accountOf(user, torrent, site))
    const isPending = torrent.state === 'pending' && !isStop
    return { failure: undefined, user, endpoints, isPending, peer }
  }
}

/** A stop is carried out by a Redis that is full too, which cannot count it. */
function uncounted(error: unknown): number {
  if (!isUnavailable(error)) throw error
  return 0
}

const NO_ENDPOINTS: PeerEndpoints = { ipv4: undefined, ipv6: undefined, source: new Uint8Array(0) }

/** Why nobody may announce a torrent, if so. */
export function checkTorrent(torrent: AnnounceTorrent): FailureName | undefined {
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
  return { user: user.id, torrent: torrent.id, ...bestOf([user, torrent, site]) }
}
