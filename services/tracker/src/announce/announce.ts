import {
  type AnnounceRequest,
  FAILURES,
  type FailureName,
  isRefusedPort,
  type Passkey,
  WARNINGS,
  type WarningName,
} from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { hurriedInterval, withJitter } from '../swarm/interval.ts'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce, SwarmAnswer, Swarms } from '../swarm/swarm.ts'
import type { AnnounceLimit } from './announce-limit.ts'
import { type ClientRules, isClientAllowed } from './clients.ts'
import type { Directory, Listing, Member, SitePercents } from './directory.ts'
import { addressOwner, endpointsOf, limitKeyOf, type PeerEndpoints } from './peer-endpoints.ts'

/** How announces are answered; the times in seconds. */
export type AnnounceSettings = {
  /** `open` takes everybody and every torrent, and accounts nothing. */
  readonly mode: 'private' | 'open'
  readonly interval: number
  readonly minInterval: number
  /** Whether loopback and private addresses are handed out. */
  readonly allowPrivatePeers: boolean
  /** Whether the addresses that clients claim count. */
  readonly allowIpParam: boolean
  readonly clients: ClientRules
}

/** Why an announce or a scrape was refused. */
export type Refusal = {
  readonly failure: FailureName
  readonly interval: number
  readonly minInterval: number
  readonly detail?: string | undefined
}

/** An announce that succeeded. */
export type Accepted = {
  readonly failure: undefined
  readonly warning: WarningName | undefined
  readonly interval: number
  readonly minInterval: number
  /** `undefined` when the swarm was not asked. */
  readonly answer: SwarmAnswer | undefined
  readonly owner: Buffer
  /** Where the peer listens, where there are no users: there one client may come under several names. */
  readonly endpoints: PeerEndpoints | undefined
}

export type AnnounceOutcome = Refusal | Accepted

/** Announces of one tracker. */
export type Announces = {
  /**
   * Judges an announce by the rules in their order, then carries it out.
   *
   * @param passkey from the path or the query
   * @param address where it came from, 4 or 16 bytes
   * @throws UnavailableError when Postgres or Redis had to be asked and is away
   */
  announce(request: AnnounceRequest, passkey: Passkey | undefined, address: Uint8Array): Promise<AnnounceOutcome>
  /**
   * Who scrapes or announces: a member in private mode, nobody in open mode.
   *
   * @throws UnavailableError when Postgres is away and the passkey is not cached
   */
  identify(passkey: Passkey | undefined): Member | undefined | FailureName | Promise<Member | undefined | FailureName>
  refuse(failure: FailureName, detail?: string | null): Refusal
}

const NO_ID = Buffer.alloc(0)

/** Creates the use case; `random` gives numbers from 0 to 1. */
export function createAnnounces(options: {
  settings: AnnounceSettings
  directory: Directory
  swarms: Swarms
  limit: AnnounceLimit
  clock: Clock
  random: () => number
}): Announces {
  const { settings, directory, swarms, clock } = options
  const isOpen = settings.mode === 'open'

  const refuse = (failure: FailureName, detail?: string | null): Refusal => {
    const { retryIn } = FAILURES[failure]
    // Clients that do not know BEP 31 read the interval instead.
    const interval = retryIn === 'never' ? settings.interval : Math.min(settings.interval, retryIn * 60)
    return { failure, interval, minInterval: Math.min(interval, settings.minInterval), detail: detail ?? undefined }
  }

  const identify = (passkey: Passkey | undefined): ReturnType<Announces['identify']> => {
    if (isOpen) return undefined
    if (passkey === undefined) return 'missing_passkey'
    const member = directory.member(passkey)
    return member instanceof Promise ? member.then(judgeMember) : judgeMember(member)
  }

  const warn = (warning: WarningName): Accepted => {
    const interval = WARNINGS[warning].interval ?? settings.interval
    const minInterval = WARNINGS[warning].interval ?? settings.minInterval
    return { failure: undefined, warning, interval, minInterval, answer: undefined, owner: NO_ID, endpoints: undefined }
  }

  const present = (answer: SwarmAnswer, owner: Buffer, endpoints: PeerEndpoints | undefined): Accepted => {
    const regular = answer.hurried ? hurriedInterval(settings.interval) : settings.interval
    let interval = withJitter(regular, options.random)
    let minInterval = Math.min(settings.minInterval, regular)
    if (answer.status === 'announce_too_soon') {
      interval = Math.max(1, answer.lastAnnounce + minInterval - Math.floor(clock.now() / 1000))
      minInterval = interval
    }
    const warning = answer.status === 'accepted' ? undefined : answer.status
    return { failure: undefined, warning, interval, minInterval, answer, owner, endpoints }
  }

  const carryOut = async (
    request: AnnounceRequest,
    endpoints: PeerEndpoints,
    member: Member | undefined,
    listing: Listing | undefined,
    site: SitePercents | undefined,
  ): Promise<Accepted> => {
    const owner = member?.owner ?? addressOwner(endpoints, request)
    const { kind, state } = transition(request.event, request.left)
    const announce: PeerAnnounce = {
      swarm: listing?.swarm ?? Buffer.from(request.infoHash, 'hex'),
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
      completed: listing?.completed ?? 0,
      expected: listing?.peers ?? 0,
      account: member && listing && site && accountOf(member, listing, site),
    }
    return present(await swarms.announce(announce), owner, member === undefined ? endpoints : undefined)
  }

  return {
    identify,
    refuse,
    announce: async (request, passkey, address) => {
      const found = identify(passkey)
      const member = found instanceof Promise ? await found : found
      if (typeof member === 'string') return refuse(member)

      const endpoints = endpointsOf(request, address, settings)
      if (typeof endpoints === 'string') return refuse(endpoints)

      const taken = options.limit.take(member ? member.key : limitKeyOf(address))
      const wait = typeof taken === 'number' ? taken : await taken
      if (wait > 0) return { failure: 'announce_limit', interval: wait, minInterval: wait }

      const byClient = judgeClient(request, settings)
      if (byClient !== undefined) return refuse(byClient)
      if (!member) return carryOut(request, endpoints, undefined, undefined, undefined)

      const looked = directory.listing(request.infoHash)
      const listing = looked instanceof Promise ? await looked : looked
      const byTorrent = judgeTorrent(listing)
      if (byTorrent !== undefined || listing === undefined)
        return refuse(byTorrent ?? 'unregistered_torrent', listing?.reason)
      if (!member.canDownload && request.left > 0 && request.event !== 'stopped') return refuse('downloads_disabled')
      if (listing.state === 'pending' && request.event !== 'stopped') return warn('pending_moderation')

      const site = directory.site()
      return carryOut(request, endpoints, member, listing, site instanceof Promise ? await site : site)
    },
  }
}

/** Rules about the account. */
function judgeMember(member: Member | undefined): Member | FailureName {
  if (member === undefined) return 'unknown_passkey'
  if (member.state === 'banned') return 'account_banned'
  if (member.state === 'suspended') return 'account_suspended'
  return member
}

/** Rules about the client. A peer that stops may do so from any port: it was not let in with it. */
function judgeClient(request: AnnounceRequest, settings: AnnounceSettings): FailureName | undefined {
  if (!isClientAllowed(request.peerId, settings.clients)) return 'client_not_allowed'
  if (isRefusedPort(request.port) && request.event !== 'stopped') return 'refused_port'
  return undefined
}

/** Rules about the torrent. */
function judgeTorrent(listing: Listing | undefined): FailureName | undefined {
  if (listing === undefined) return 'unregistered_torrent'
  if (listing.state === 'deleted') return 'deleted_torrent'
  if (listing.state === 'rejected') return 'rejected_torrent'
  return undefined
}

/** Of all multipliers that hold the one best for the user counts. */
function accountOf(member: Member, listing: Listing, site: SitePercents): NonNullable<PeerAnnounce['account']> {
  return {
    id: Buffer.concat([member.id, listing.id]),
    uploadPercent: Math.max(member.uploadPercent, listing.uploadPercent, site.uploadPercent),
    downloadPercent: Math.min(member.downloadPercent, listing.downloadPercent, site.downloadPercent),
  }
}
