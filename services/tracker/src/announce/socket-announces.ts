import { type AnnounceRequest, type Passkey, WARNINGS, type WarningName } from '@vault-and-tracker/bencode-tracker'
import { withJitter } from '../swarm/interval.ts'
import type { PeerAnnounce, ProcessId, SocketCount, Swarms } from '../swarm/swarm.ts'
import { type AnnounceSettings, countAnnounce } from './announce.ts'
import type { CheckAnnounce } from './announce-check.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { Refusal, Refusals } from './refusal.ts'

/** An announce over a socket, besides what it says. */
export type SocketRequest = {
  readonly request: AnnounceRequest
  readonly passkey: Passkey | undefined
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  /** 8 bytes: the owner of its peers in open mode. */
  readonly owner: () => Buffer
  /** Whether this connection may have the peer, as opposed to another one of this process. */
  readonly claim: (peer: PeerAnnounce) => boolean | Promise<boolean>
  /** Called as soon as no rule refuses the announce, before the swarm is told. */
  readonly checked: (peer: PeerAnnounce) => void
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
  readonly elsewhere: readonly SocketCount[]
}

/** The outcome of an announce over a socket. With a holder nothing was changed: another process has this client. */
export type SocketOutcome =
  | Refusal
  | { readonly failure: undefined; readonly holder: ProcessId; readonly peer: PeerAnnounce }
  | SocketReply

/** The announces over sockets of one process. All throw what `isUnavailable` recognises. */
export type SocketAnnounces = {
  /** @param takesOver the process that has noted this client does not have it any more */
  announce(announce: SocketRequest, takesOver: boolean): Promise<SocketOutcome>
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
  swarms: Swarms
  refusals: Refusals
  counters: AnnounceCounters
  random: () => number
}): SocketAnnounces {
  const { process, settings, checkAnnounce, swarms, refusals, counters, random } = options
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
    elsewhere: [],
  })

  return {
    announce: async ({ request, passkey, address, owner, claim, checked: onChecked }, takesOver) => {
      const checked = await checkAnnounce(request, passkey, address, owner)
      if (checked.failure !== undefined) return checked
      const { peer, isPending } = checked
      if (isPending) {
        countAnnounce(
          counters,
          request.event,
          { rejoined: false, implausible: false, elsewhere: false },
          'pending_moderation',
        )
        return pending(peer)
      }
      const claimed = claim(peer)
      if (!(typeof claimed === 'boolean' ? claimed : await claimed))
        return refusals.refuse('announce', 'peer_id_in_use')
      onChecked(peer)
      const purpose = takesOver ? 'takes-over' : 'announces'
      const answer = await swarms.announceOverSocket(peer, { process, purpose })
      if (answer.status === 'held') return { failure: undefined, holder: answer.holder, peer }
      const warning: WarningName | undefined = answer.status === 'accepted' ? undefined : answer.status
      countAnnounce(counters, request.event, answer, warning)
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
        elsewhere: answer.sockets.filter((count) => !count.process.equals(process)),
      }
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
