import { type AnnounceRequest, type Passkey, WARNINGS, type WarningName } from '@vault-and-tracker/bencode-tracker'
import { withJitter } from '../swarm/interval.ts'
import type { PeerAnnounce, ProcessId, SocketCount, Swarms } from '../swarm/swarm.ts'
import type { AddressLimits } from './address-limits.ts'
import { type AnnounceSettings, countAnnounce } from './announce.ts'
import type { CheckAnnounce, CheckedAnnounce } from './announce-check.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { Refusal, Refusals } from './refusal.ts'

/** An announce over a socket, besides what it says. */
export type SocketRequest = {
  readonly request: AnnounceRequest
  readonly passkey: Passkey | undefined
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  /** 8 bytes: the owner of its peers in open mode. */
  owner(): Buffer
  /** Whether this connection may have the peer, as opposed to another one of this process. */
  claim(peer: PeerAnnounce): boolean | Promise<boolean>
  /** Called as soon as no rule refuses the announce, before the swarm is told. */
  checked(peer: PeerAnnounce): void
}

/** An announce over a socket that was carried out. */
export type SocketReply = {
  readonly failure: undefined
  readonly holder: undefined
  readonly complete: number
  readonly incomplete: number
  readonly downloaded: number
  /** Seconds. */
  readonly interval: number
  /** Seconds. */
  readonly minInterval: number
  readonly warning: string | undefined
  /** The peer is in the swarm now. */
  readonly joined: boolean
  readonly peer: PeerAnnounce
  /** How many sockets other processes have in the swarm. */
  readonly otherProcesses: readonly SocketCount[]
}

/** The outcome of an announce over a socket. With a holder nothing was changed: another process has this client. */
export type SocketOutcome =
  | Refusal
  | { readonly failure: undefined; readonly holder: ProcessId; readonly peer: PeerAnnounce }
  | SocketReply

/** The announces over sockets of one process. All throw what `isUnavailable` recognises. */
export type SocketAnnounces = {
  /**
   * @param takesOver the process that has noted this client does not have it any more
   * @returns at once where the swarm need not be told
   */
  announce(announce: SocketRequest, takesOver: boolean): SocketOutcome | Promise<SocketOutcome>
  /** Ends a peer whose socket is gone. */
  close(peer: PeerAnnounce): Promise<void>
  /** Counts an announce that came too soon, and says when the next one is due, in seconds. */
  repeat(request: AnnounceRequest): { readonly interval: number; readonly minInterval: number }
}

const PENDING_INTERVAL = WARNINGS.pending_moderation.interval

/**
 * Creates the use case: the rules and the swarm of HTTP announces, with intervals of its own.
 *
 * @param options `random` gives numbers from 0 to 1
 */
export function createSocketAnnounces(options: {
  process: ProcessId
  settings: AnnounceSettings
  checkAnnounce: CheckAnnounce
  limits: AddressLimits
  swarms: Swarms
  refusals: Refusals
  counters: AnnounceCounters
  random: () => number
}): SocketAnnounces {
  const { process, settings, checkAnnounce, limits, swarms, refusals, counters, random } = options
  const interval = (): number => withJitter(settings.interval, random)
  const { minInterval } = settings

  const pending = (peer: PeerAnnounce): SocketReply => ({
    failure: undefined,
    holder: undefined,
    complete: 0,
    incomplete: 0,
    downloaded: 0,
    interval: PENDING_INTERVAL,
    minInterval: PENDING_INTERVAL,
    warning: WARNINGS.pending_moderation.message,
    joined: false,
    peer,
    otherProcesses: [],
  })

  const tell = (announce: SocketRequest, peer: PeerAnnounce, takesOver: boolean): Promise<SocketOutcome> => {
    announce.checked(peer)
    const purpose = takesOver ? 'takes-over' : 'announces'
    return swarms.announceOverSocket(peer, { process, purpose }).then((answer) => {
      if (answer.status === 'held') return { failure: undefined, holder: answer.holder, peer }
      const warning: WarningName | undefined = answer.status === 'accepted' ? undefined : answer.status
      countAnnounce(counters, announce.request.event, answer, warning)
      return {
        failure: undefined,
        holder: undefined,
        complete: answer.complete,
        incomplete: answer.incomplete,
        downloaded: answer.completed,
        interval: interval(),
        minInterval,
        warning: warning && WARNINGS[warning].message,
        joined: answer.status === 'accepted' && peer.state !== 'stopped',
        peer,
        otherProcesses: answer.sockets.filter((count) => !count.process.equals(process)),
      }
    })
  }

  const carryOut = (
    announce: SocketRequest,
    checked: Refusal | CheckedAnnounce,
    takesOver: boolean,
  ): SocketOutcome | Promise<SocketOutcome> => {
    if (checked.failure !== undefined) return limits.limitUnknownPasskeys('announce', checked, announce.address)
    const { peer, isPending } = checked
    if (isPending) {
      countAnnounce(
        counters,
        announce.request.event,
        { rejoined: false, implausible: false, elsewhere: false },
        'pending_moderation',
      )
      return pending(peer)
    }
    const claimed = announce.claim(peer)
    if (claimed === true) return tell(announce, peer, takesOver)
    const refuse = (): Refusal => refusals.refuse('announce', 'peer_id_in_use')
    return claimed === false ? refuse() : claimed.then((may) => (may ? tell(announce, peer, takesOver) : refuse()))
  }

  return {
    announce: (announce, takesOver) => {
      const checked = checkAnnounce(announce.request, announce.passkey, announce.address, announce)
      return checked instanceof Promise
        ? checked.then((each) => carryOut(announce, each, takesOver))
        : carryOut(announce, checked, takesOver)
    },

    close: async (peer) => {
      await swarms.announceOverSocket({ ...peer, kind: 'stopped', state: 'stopped' }, { process, purpose: 'closes' })
    },

    repeat: ({ event }) => {
      counters.countAnnounce(event)
      return { interval: interval(), minInterval }
    },
  }
}
