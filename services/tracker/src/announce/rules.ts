import { type FailureName, isRefusedPort } from '@vault-and-tracker/bencode-tracker'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { Announce } from './announce.ts'
import type { AnnounceLimit, CountLimit } from './limits.ts'
import type { AnnounceTorrent, Lookups, PasskeyUser } from './lookups.ts'
import { endpointsOf, limitKeyOf, NO_ENDPOINTS } from './peer-endpoints.ts'

/** `open` accepts every client and torrent and does no accounting. */
export type TrackerMode = 'private' | 'open'

/** Dependencies and settings of the rules. */
export type RuleOptions = {
  readonly lookups: Lookups
  /** Announces per user, or per address in open mode. */
  readonly announceLimit: AnnounceLimit
  /** Unknown passkeys per address. */
  readonly passkeyLimit: CountLimit
  /** Whether loopback and private addresses are sent to peers. */
  readonly allowPrivatePeers: boolean
  /** Whether addresses claimed by clients are used. */
  readonly allowIpParam: boolean
}

/** A rule about announces, for all transports. */
export type Rule = {
  /** The failures it can return, in the order in which it checks for them. */
  readonly failures: readonly FailureName[]
  /** Whether it applies in open mode too. */
  readonly isForOpenMode: boolean
  /**
   * Checks an announce, and stores the values it looks up on it.
   *
   * @returns undefined, a failure, or a promise: once it resolves, the list is applied again from the start
   * @throws (or rejects with) an error that `isUnavailable` recognises if Postgres or Redis is needed and unavailable
   */
  readonly check: (announce: Announce, options: RuleOptions) => FailureName | Promise<void> | undefined
}

/** The rules, in the order in which they are applied. docs/tracker-announce.md has the same list. */
export const RULES: readonly Rule[] = [
  {
    failures: ['missing_passkey', 'passkey_limit', 'unknown_passkey', 'account_banned', 'account_suspended'],
    isForOpenMode: false,
    check: checkUser,
  },
  { failures: ['address_not_usable', 'invalid_ip'], isForOpenMode: true, check: checkAddress },
  { failures: ['announce_limit'], isForOpenMode: true, check: checkLimit },
  { failures: ['client_not_allowed'], isForOpenMode: true, check: checkClient },
  { failures: ['refused_port'], isForOpenMode: true, check: checkPort },
  {
    failures: ['unregistered_torrent', 'deleted_torrent', 'rejected_torrent'],
    isForOpenMode: false,
    check: checkTorrent,
  },
  { failures: ['downloads_disabled'], isForOpenMode: false, check: checkRights },
]

type LookedUp = 'user' | 'torrent' | 'site' | 'over' | 'passkeyWait'

/** Stores a value on the announce. @returns a promise if the value has to be loaded first */
function keep<Name extends LookedUp>(
  announce: Pick<Announce, Name>,
  name: Name,
  value: Announce[Name] | Promise<Announce[Name]>,
): Promise<void> | undefined {
  if (value instanceof Promise)
    return value.then((later) => {
      announce[name] = later
    })
  announce[name] = value
  return undefined
}

function checkUser(announce: Announce, { lookups, passkeyLimit }: RuleOptions): ReturnType<Rule['check']> {
  if (announce.passkey === undefined) return 'missing_passkey'
  const loading = announce.user === null && keep(announce, 'user', lookups.user(announce.passkey))
  if (loading) return loading
  const failure = userFailure(announce.user ?? undefined)
  if (failure === undefined) return undefined
  // A client that may no longer announce may still stop. If refused, it would retry forever.
  if (announce.isStop && announce.overSocket === undefined) {
    announce.isStopOfNobody = failure === 'unknown_passkey'
    return undefined
  }
  if (failure !== 'unknown_passkey') return failure
  const key = limitKeyOf(announce.address)
  const counting = announce.passkeyWait === null && keep(announce, 'passkeyWait', passkeyLimit.take(key))
  if (counting) return counting
  return isOver(announce.passkeyWait) ? 'passkey_limit' : failure
}

/** The reason a user may neither announce nor scrape, if any. */
export function userFailure(
  user: PasskeyUser | undefined,
): 'unknown_passkey' | 'account_banned' | 'account_suspended' | undefined {
  if (user === undefined) return 'unknown_passkey'
  if (user.state === 'banned') return 'account_banned'
  return user.state === 'suspended' ? 'account_suspended' : undefined
}

function checkAddress(announce: Announce, options: RuleOptions): FailureName | undefined {
  if (announce.endpoints !== null) return undefined
  const { request, address, overSocket } = announce
  const found = overSocket === undefined ? endpointsOf(request, address, options) : NO_ENDPOINTS
  if (typeof found === 'string') return found
  announce.endpoints = found
  return undefined
}

function checkLimit(announce: Announce, { announceLimit }: RuleOptions): ReturnType<Rule['check']> {
  if (announce.over === null) {
    const { user } = announce
    const taken = announceLimit.take(user ? user.id : limitKeyOf(announce.address), user?.announceLimit ?? undefined)
    const over = announce.isStop && taken instanceof Promise ? taken.catch(uncounted) : taken
    const counting = keep(announce, 'over', over)
    if (counting) return counting
  }
  return announce.over?.admits === 'none' ? 'announce_limit' : undefined
}

/** A full Redis still carries out a stop, but cannot count it. */
function uncounted(error: unknown): undefined {
  if (!isUnavailable(error)) throw error
}

function isOver(wait: number | null): boolean {
  return wait !== null && wait > 0
}

/** A client that was allowed when it started may still send `stopped`. */
function checkClient(announce: Announce, { lookups }: RuleOptions): ReturnType<Rule['check']> {
  if (announce.isStopOfNobody) return undefined
  const loading = announce.site === null && keep(announce, 'site', lookups.site())
  if (loading) return loading
  const { site, request, overSocket, isStop } = announce
  if (isStop && overSocket === undefined) return undefined
  return site?.clients.verdict(request.peerId).isAllowed === false ? 'client_not_allowed' : undefined
}

/** A peer may stop from any port: it was never accepted with a refused one. */
function checkPort({ request, overSocket, isStop }: Announce): FailureName | undefined {
  return overSocket === undefined && !isStop && isRefusedPort(request.port) ? 'refused_port' : undefined
}

function checkTorrent(announce: Announce, { lookups }: RuleOptions): ReturnType<Rule['check']> {
  if (announce.isStopOfNobody) return undefined
  const { infoHash } = announce.request
  const loading = announce.torrent === null && keep(announce, 'torrent', lookups.torrent(infoHash))
  return loading || torrentFailure(announce.torrent ?? undefined)
}

/** The reason no user may announce a torrent, if any. */
export function torrentFailure(
  torrent: AnnounceTorrent | undefined,
): 'unregistered_torrent' | 'deleted_torrent' | 'rejected_torrent' | undefined {
  if (torrent === undefined) return 'unregistered_torrent'
  if (torrent.state === 'deleted') return 'deleted_torrent'
  return torrent.state === 'rejected' ? 'rejected_torrent' : undefined
}

function checkRights({ user, request, isStop }: Announce): FailureName | undefined {
  return user?.canDownload === false && request.left > 0 && !isStop ? 'downloads_disabled' : undefined
}
