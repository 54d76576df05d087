import { type Passkey, parseAnnounceQuery, WARNINGS, type WarningName } from '@vault-and-tracker/bencode-tracker'
import { recoveryInterval, spreadInterval, withJitter } from '../swarm/interval.ts'
import { listPeers, NO_COMPACT_PEERS, selectPeers } from '../swarm/selection.ts'
import { NO_PEERS, type SwarmAnswer, type Swarms } from '../swarm/swarm.ts'
import { Announce, countAnnounce, warningOf } from './announce.ts'
import type { AnnounceCounters, AnswerTimes } from './announce-counters.ts'
import type { Announces } from './check-announce.ts'
import type { Refusal, Refusals } from './refusal.ts'
import { compactReply, listReply, type Reply, refusalReply } from './reply.ts'

/** Dependencies of announces over HTTP. */
export type HttpAnnounceOptions = {
  readonly announces: Announces
  readonly swarms: Pick<Swarms, 'announce'>
  readonly refusals: Refusals
  readonly counters: AnnounceCounters & AnswerTimes
  /** In seconds. */
  readonly interval: number
  /** In seconds. */
  readonly minInterval: number
  /** Returns numbers from 0 to 1. */
  readonly random: () => number
}

/** An announce over HTTP. The client receives exactly one reply per call of `begin`. */
export class HttpAnnounce extends Announce {
  readonly socket = undefined
  private startedMs = 0
  private readonly options: HttpAnnounceOptions
  private readonly client: { send(reply: Reply): void }

  constructor(options: HttpAnnounceOptions, client: { send(reply: Reply): void }) {
    super()
    this.options = options
    this.client = client
  }

  /**
   * Reads an announce and passes it to the rules.
   *
   * @param rawQuery everything after the first `?`, not decoded
   * @param address 4 or 16 bytes; undefined if the connection has closed
   */
  begin(rawQuery: string, passkey: Passkey | undefined, address: Uint8Array | undefined): void {
    const { announces, refusals } = this.options
    this.startedMs = performance.now()
    const parsed = parseAnnounceQuery(rawQuery)
    if (!parsed.ok) {
      this.refused(refusals.refuse('announce', parsed.failure))
    } else if (address === undefined) {
      this.refused(refusals.refuse('announce', 'address_not_usable'))
    } else {
      this.restart()
      this.request = parsed.request
      this.passkey = passkey
      this.address = address
      announces.check(this)
    }
  }

  accepted(): void {
    if (this.isStopOfNobody) this.reply('stopped_unknown_peer', NO_SWARM)
    else if (this.isPending) this.reply('pending_moderation', NO_SWARM)
    else this.options.swarms.announce(this)
  }

  refused(refusal: Refusal): void {
    this.send(refusalReply(refusal))
  }

  answered(answer: SwarmAnswer): void {
    if (answer.status === 'not_admitted') this.refused(this.refusalOverLimit(this.options.refusals))
    else this.reply(warningOf(this, answer), answer)
  }

  failed(error: unknown): void {
    this.refused(this.options.refusals.refuseError('announce', error))
  }

  private reply(name: WarningName | undefined, answer: SwarmAnswer): void {
    const { counters, random } = this.options
    const { request, user, endpoints } = this
    countAnnounce(counters, request.event, answer, name)
    const regular = answer.recovering ? recoveryInterval(this.options.interval) : this.options.interval
    const minimum = Math.min(this.options.minInterval, regular)
    const fixed = name && warningInterval(name, answer.lastAnnounce + minimum - answer.now)
    // Only in open mode, without users, can one client have several owners.
    const own = user ? undefined : (endpoints ?? undefined)
    const requester = { endpoints: own, want: request.numwant, random: Math.floor(random() * 0x1_0000_0000) }
    const { complete, incomplete, completed: downloaded } = answer
    const { address: externalIp } = this
    const { trackerId, noPeerId } = request
    const spread = name === 'over_announce_limit' && !answer.recovering ? spreadInterval : withJitter
    const interval = fixed ?? spread(regular, random)
    const minInterval = fixed ?? minimum
    const warning = name && WARNINGS[name].message
    const { peers, peers6 } = request.compact ? selectPeers(answer.picked, requester) : NO_COMPACT_PEERS
    // A literal without spread, because nearly every request creates one.
    const reply = {
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
    if (request.compact) this.send(compactReply(reply))
    else this.send(listReply({ ...reply, peers: listPeers(answer.picked, requester), noPeerId }))
  }

  private send(reply: Reply): void {
    this.options.counters.timeAnswer('announce', (performance.now() - this.startedMs) / 1_000)
    this.client.send(reply)
  }
}

/** Replaces the swarm's answer if the announce does not reach the swarm. */
const NO_SWARM: SwarmAnswer = {
  status: 'accepted',
  rejoined: false,
  implausible: false,
  recovering: false,
  elsewhere: false,
  complete: 0,
  incomplete: 0,
  completed: 0,
  lastAnnounce: 0,
  picked: NO_PEERS,
  sockets: [],
  holder: undefined,
  now: 0,
}

/** The interval of a reply with a warning, in seconds; undefined for the regular one. */
function warningInterval(name: WarningName, untilAllowed: number): number | undefined {
  return name === 'announce_too_soon' ? Math.max(1, untilAllowed) : WARNINGS[name].interval
}
