import type { ProcessId } from '../swarm/swarm.ts'
import type { Offer, OfferSender } from './signalling.ts'

/** What processes of the tracker tell each other about their sockets. Processes are named by 16 hex digits. */
export type RelayMessage =
  | {
      readonly kind: 'offers'
      readonly swarm: string
      readonly from: OfferSender
      readonly offers: readonly Offer[]
      /** Others of the same announce came before. */
      readonly isRest: boolean
    }
  /** An answer for the peer with this serial number in the process that is told. */
  | { readonly kind: 'answer'; readonly serial: number; readonly peerId: string; readonly answer: Offer }
  /** Asks whether the socket of a client still lives. */
  | {
      readonly kind: 'probe'
      readonly id: number
      readonly process: string
      readonly swarm: string
      readonly owner: string
      readonly peerId: string
    }
  | { readonly kind: 'alive'; readonly id: number; readonly alive: boolean }

/** Sends messages to other processes; those to the same one share a publication. Never fails: what is lost is counted. */
export type Relays = { send(process: string, message: RelayMessage): void; close(): Promise<void> }

/** Which processes of the tracker run. All throw what `isUnavailable` recognises. */
export type Processes = {
  /** Says that this process runs; it counts as gone 15 seconds after the last time. */
  beat(): Promise<void>
  /** The processes that are gone and not forgotten. */
  gone(): Promise<readonly ProcessId[]>
  forget(process: ProcessId): Promise<void>
}

/** The Redis channel of one process. Channels are shared by the logical databases of a server. */
export function relayChannel(database: number, process: string): string {
  return `tracker:sockets:${String(database)}:${process}`
}

/** One message as a line. */
export function formatRelay(message: RelayMessage): string {
  return JSON.stringify(message)
}

/** Reads one line; undefined for one that only another release understands. */
export function parseRelay(line: string): RelayMessage | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { kind, swarm, from, offers, isRest, serial, peerId, answer, id, process, owner, alive } = value
  if (
    kind === 'offers' &&
    typeof swarm === 'string' &&
    isSender(from) &&
    Array.isArray(offers) &&
    offers.every(isOffer)
  )
    return { kind, swarm, from, offers, isRest: isRest === true }
  if (kind === 'answer' && typeof serial === 'number' && typeof peerId === 'string' && isOffer(answer))
    return { kind, serial, peerId, answer }
  if (kind === 'alive' && typeof id === 'number' && typeof alive === 'boolean') return { kind, id, alive }
  if (kind !== 'probe' || typeof id !== 'number' || typeof process !== 'string') return undefined
  if (typeof swarm !== 'string' || typeof owner !== 'string' || typeof peerId !== 'string') return undefined
  return { kind, id, process, swarm, owner, peerId }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isOffer(value: unknown): value is Offer {
  return isRecord(value) && typeof value['offerId'] === 'string' && typeof value['members'] === 'string'
}

function isSender(value: unknown): value is OfferSender {
  if (!isRecord(value)) return false
  const { process, serial, owner, peerId, seeds } = value
  return (
    typeof process === 'string' &&
    typeof serial === 'number' &&
    typeof owner === 'string' &&
    typeof peerId === 'string' &&
    typeof seeds === 'boolean'
  )
}
