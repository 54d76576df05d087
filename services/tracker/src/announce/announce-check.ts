import { type AnnounceRequest, type FailureName, isRefusedPort, type Passkey } from '@vault-and-tracker/bencode-tracker'
import { isUnavailable } from '@vault-and-tracker/service-kit/unavailable'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { AnnounceLimit } from './announce-limit.ts'
import { type ClientRules, isClientAllowed } from './client-rules.ts'
import { type AnnounceTorrent, type AnnounceUser, bestOf, type Directory, type Multipliers } from './directory.ts'
import type { Identify, Identity } from './identify.ts'
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
 * @param socket of an announce over a socket: tells the owner of its peers in open mode, 8 bytes. Such a peer has no
 *   address, whatever the client claims
 * @returns at once where everything that has to be looked up is cached
 * @throws what `isUnavailable` recognises when Postgres or Redis is needed and unavailable
 */
export type CheckAnnounce = (
  request: AnnounceRequest,
  passkey: Passkey | undefined,
  address: Uint8Array,
  socket?: { owner(): Buffer },
) => Checked | Promise<Checked>

type Checked = Refusal | CheckedAnnounce

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

  return (request, passkey, address, socket) => {
    const isStop = request.event === 'stopped'

    const checkUser = (found: Identity): Checked | Promise<Checked> => {
      if (typeof found !== 'string') return checkLimit(found, false)
      // Who may not announce any more may stop: a client that is refused repeats it without end.
      if (!isStop || socket || passkey === undefined) return refuse('announce', found)
      return onceThere(directory.user(passkey), (user) => checkLimit(user, user === undefined))
    }

    const checkLimit = (user: AnnounceUser | undefined, isStopOfNobody: boolean): Checked | Promise<Checked> => {
      const endpoints = socket ? NO_ENDPOINTS : endpointsOf(request, address, settings)
      if (typeof endpoints === 'string') return refuse('announce', endpoints)
      const taken = limit.take(user ? user.limitKey : limitKeyOf(address))
      const wait = isStop && taken instanceof Promise ? taken.catch(uncounted) : taken
      return onceThere(wait, (seconds) => checkClient(user, endpoints, seconds, isStopOfNobody))
    }

    const checkClient = (
      user: AnnounceUser | undefined,
      endpoints: PeerEndpoints,
      wait: number,
      isStopOfNobody: boolean,
    ): Checked | Promise<Checked> => {
      if (wait > 0) return refuseOverLimit(wait)
      if (!isClientAllowed(request.peerId, settings.clients)) return refuse('announce', 'client_not_allowed')
      // A peer may stop from any port: it was never accepted with a refused one.
      if (!socket && !isStop && isRefusedPort(request.port)) return refuse('announce', 'refused_port')
      if (user) return onceThere(directory.torrent(request.infoHash), (torrent) => checkFor(user, endpoints, torrent))
      const owner = socket ? socket.owner() : addressOwner(endpoints, request)
      const peer = peerOf(request, endpoints, owner, undefined, undefined)
      return { failure: undefined, user, endpoints, isPending: false, isStopOfNobody, peer }
    }

    const checkFor = (user: AnnounceUser, endpoints: PeerEndpoints, torrent: AnnounceTorrent | undefined) => {
      if (torrent === undefined) return refuse('announce', 'unregistered_torrent')
      const failure = checkTorrent(torrent)
      if (failure !== undefined) return refuse('announce', failure, torrent.reason)
      if (!user.canDownload && request.left > 0 && !isStop) return refuse('announce', 'downloads_disabled')
      return onceThere(directory.siteMultipliers(), (site): CheckedAnnounce => {
        const peer = peerOf(request, endpoints, user.owner, torrent, site && accountOf(user, torrent, site))
        return { failure: undefined, user, endpoints, isPending: torrent.state === 'pending' && !isStop, peer }
      })
    }

    return onceThere(identify(passkey), checkUser)
  }
}

/** A stop is carried out by a Redis that is full too, which cannot count it. */
function uncounted(error: unknown): number {
  if (!isUnavailable(error)) throw error
  return 0
}

/** Goes on with a value, at once where it is there. */
function onceThere<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value)
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
  const { uploadPercent, downloadPercent } = bestOf([user, torrent, site])
  return { user: user.id, torrent: torrent.id, uploadPercent, downloadPercent }
}
