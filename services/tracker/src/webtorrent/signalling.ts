import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Offer } from './messages.ts'

/** A client in a swarm, in strings of one character per byte. */
export type Client = {
  readonly swarm: string
  /** Peers of one owner are not introduced to each other. */
  readonly owner: string
  readonly peerId: string
}

/** A peer with a socket of this process. Signalling sets all fields except the peer id. */
export type SignalPeer = {
  /** Identifies the peer until it leaves the swarm, uniquely in this process; 0 before it joins. */
  serial: number
  swarm: string
  owner: string
  readonly peerId: string
  /** Whether it is a seeder or a partial seed, whose offers go to leechers only. */
  seeds: boolean
  /** Its index in the list of the seeders, or of the others, of its swarm. */
  place: number
  /** The received offers that it may answer. */
  waiting: Map<string, Waiting> | undefined
}

/** The sender of an offer: the name of a process, 16 hex digits, and one of its peers. */
export type Origin = { readonly process: string; readonly serial: number }

/** The sender of offers in messages between processes. */
export type OfferSender = Origin & { readonly owner: string; readonly peerId: string; readonly seeds: boolean }

/** The number of peers that another process has in a swarm. Partial seeds count as seeders. */
export type ProcessCount = { readonly process: string; readonly seeders: number; readonly others: number }

/** An unanswered offer. */
export type Waiting = { readonly origin: Origin; readonly until: number }

/** An offer and its receiver in this process. */
export type Delivery<Peer> = { readonly to: Peer; readonly offer: Offer }

/** The distribution of the offers of one announce. Each is sent to one peer, to one process, or not at all. */
export type Distribution<Peer> = {
  readonly here: readonly Delivery<Peer>[]
  readonly elsewhere: ReadonlyMap<string, readonly Offer[]>
  /** The remaining offers once every other peer of the swarm has one. */
  readonly left: readonly Offer[]
}

type Swarm<Peer> = {
  readonly name: string
  readonly seeders: Peer[]
  readonly others: Peer[]
  readonly byClient: Map<string, Peer>
}

/** Clients drop an offer after 50 s. This leaves some more time for slow ones. */
const OFFER_LIFE_MS = 120_000
/** The remaining offers of an announce may follow until then, after the reply of Redis. */
const REST_WITHIN_MS = 10_000
/** Maximum number of unanswered offers per peer. Beyond it, the oldest is dropped. */
const MAX_WAITING = 256
const NOWHERE: ReadonlyMap<string, readonly Offer[]> = new Map()

/** Decides which peers of one process receive which offers, and which answers are relayed. */
export class Signalling<Peer extends SignalPeer> {
  private readonly clock: Clock
  private readonly random: () => number
  private readonly swarms = new Map<string, Swarm<Peer>>()
  private readonly serials = new Map<number, Peer>()
  private lastSerial = 0

  /** @param random returns numbers from 0 to 1 */
  constructor(clock: Clock, random: () => number) {
    this.clock = clock
    this.random = random
  }

  /** Adds a peer to its swarm, or changes its role. It replaces another peer of the same client. */
  join(peer: Peer, { swarm: name, owner, peerId }: Client, seeds: boolean): void {
    if (peer.serial !== 0 && peer.swarm !== name) this.leave(peer)
    let swarm = this.swarms.get(name)
    if (swarm === undefined) {
      swarm = { name, seeders: [], others: [], byClient: new Map() }
      this.swarms.set(name, swarm)
    }
    const known = swarm.byClient.get(owner + peerId)
    if (known !== undefined) takeOut(swarm, known)
    peer.serial = known?.serial ?? ++this.lastSerial
    peer.waiting = known?.waiting
    // Equal strings are stored once.
    peer.swarm = swarm.name
    peer.owner = known?.owner ?? owner
    peer.seeds = seeds
    peer.place = partOf(swarm, peer).push(peer) - 1
    if (known === peer) return
    swarm.byClient.set(owner + peerId, peer)
    this.serials.set(peer.serial, peer)
  }

  /** Removes a peer unless another one has replaced it. Returns whether it was removed. */
  leave(peer: Peer): boolean {
    const { serial } = peer
    peer.serial = 0
    const swarm = this.swarms.get(peer.swarm)
    if (swarm === undefined || this.serials.get(serial) !== peer) return false
    takeOut(swarm, peer)
    this.serials.delete(serial)
    swarm.byClient.delete(peer.owner + peer.peerId)
    if (swarm.byClient.size === 0) this.swarms.delete(swarm.name)
    return true
  }

  find({ swarm, owner, peerId }: Client): Peer | undefined {
    return this.swarms.get(swarm)?.byClient.get(owner + peerId)
  }

  /** The peer with a serial number, or undefined after it has left. */
  bySerial(serial: number): Peer | undefined {
    return this.serials.get(serial)
  }

  peersOf(swarm: string): Peer[] {
    return [...(this.swarms.get(swarm)?.byClient.values() ?? [])]
  }

  /**
   * Distributes the offers of a peer at random among the other peers of its swarm, one offer per peer.
   *
   * @param elsewhere the other processes with peers of the swarm
   */
  distribute(
    from: OfferSender,
    swarmName: string,
    offers: readonly Offer[],
    elsewhere: readonly ProcessCount[],
  ): Distribution<Peer> {
    const swarm = this.swarms.get(swarmName)
    const here = this.pick(from, swarm, offers.length)
    if (elsewhere.length === 0)
      return { here: this.deliver(from, here, offers), elsewhere: NOWHERE, left: offers.slice(here.length) }
    const size = (swarm?.others.length ?? 0) + (from.seeds ? 0 : (swarm?.seeders.length ?? 0)) - 1
    const own = { left: here.length === 0 ? 0 : Math.max(size, here.length), taken: 0 }
    const shared = share(own, here.length, from, offers, elsewhere, this.random)
    return { ...shared, here: this.deliver(from, here.slice(0, own.taken), offers) }
  }

  /** Distributes offers in the same way, but only among peers of other processes. */
  distributeElsewhere(
    from: OfferSender,
    offers: readonly Offer[],
    elsewhere: readonly ProcessCount[],
  ): ReadonlyMap<string, readonly Offer[]> {
    if (offers.length === 0 || elsewhere.length === 0) return NOWHERE
    return share({ left: 0, taken: 0 }, 0, from, offers, elsewhere, this.random).elsewhere
  }

  /**
   * Distributes the offers from a peer of another process.
   *
   * @param isRest whether other offers of the same announce came before. A peer that received one receives no second one
   */
  receive(from: OfferSender, swarm: string, offers: readonly Offer[], isRest = false): readonly Delivery<Peer>[] {
    return this.deliver(from, this.pick(from, this.swarms.get(swarm), offers.length, isRest), offers)
  }

  /**
   * Returns the sender of the offer that a peer answers, if the peer received it within the last two minutes and has
   * not answered it yet.
   */
  answered(by: Peer, toPeerId: string, offerId: string): Origin | undefined {
    const waiting = this.serials.get(by.serial)?.waiting
    const key = toPeerId + offerId
    const found = waiting?.get(key)
    if (waiting === undefined || found === undefined) return undefined
    waiting.delete(key)
    return found.until > this.clock.now() ? found.origin : undefined
  }

  /** Picks up to `want` others at random, each at most once. */
  private pick(from: OfferSender, swarm: Swarm<Peer> | undefined, want: number, isRest = false): Peer[] {
    if (swarm === undefined) return []
    const { seeders, others } = swarm
    const size = others.length + (from.seeds ? 0 : seeders.length)
    const picked: Peer[] = []
    const start = Math.floor(this.random() * size)
    // A stride that is coprime to the length visits every peer once, in an order that differs from the list.
    const stride = strideFor(size, this.random)
    for (let i = 0, at = start; i < size && picked.length < want; i++, at = (at + stride) % size) {
      const peer = at < others.length ? others[at] : seeders[at - others.length]
      if (peer === undefined || peer.owner === from.owner) continue
      if (!isRest || !this.wasJustGiven(peer, from)) picked.push(peer)
    }
    return picked
  }

  private wasJustGiven({ waiting }: Peer, from: Origin): boolean {
    const since = this.clock.now() + OFFER_LIFE_MS - REST_WITHIN_MS
    for (const { origin, until } of waiting?.values() ?? [])
      if (until > since && origin.serial === from.serial && origin.process === from.process) return true
    return false
  }

  /** Assigns one offer to each of these peers. */
  private deliver(
    { process, serial, peerId }: OfferSender,
    peers: readonly Peer[],
    offers: readonly Offer[],
  ): Delivery<Peer>[] {
    const now = this.clock.now()
    const deliveries: Delivery<Peer>[] = []
    const pending: Waiting = { origin: { process, serial }, until: now + OFFER_LIFE_MS }
    for (let i = 0; i < peers.length && i < offers.length; i++) {
      const [to, offer] = [peers[i], offers[i]]
      if (to === undefined || offer === undefined) continue
      const waiting = (to.waiting ??= new Map<string, Waiting>())
      for (const [key, { until }] of waiting) {
        if (until > now && waiting.size < MAX_WAITING) break
        waiting.delete(key)
      }
      const key = peerId + offer.offerId
      // Two users may claim the same peer id, and the answer could reach either.
      if (waiting.has(key)) continue
      waiting.set(key, pending)
      deliveries.push({ to, offer })
    }
    return deliveries
  }
}

/** Returns one string that identifies a client. */
export function keyOf({ swarm, owner, peerId }: Client): string {
  return swarm + owner + peerId
}

function partOf<Peer extends SignalPeer>({ seeders, others }: Swarm<Peer>, { seeds }: Peer): Peer[] {
  return seeds ? seeders : others
}

/** Removes a peer from its list by moving the last one to its index. */
function takeOut<Peer extends SignalPeer>(swarm: Swarm<Peer>, peer: Peer): void {
  const part = partOf(swarm, peer)
  const last = part.pop()
  if (last === undefined || last === peer) return
  part[peer.place] = last
  last.place = peer.place
}

/** The number of peers without an offer in a process, and the number of offers it receives. */
type Share = { left: number; taken: number }

/** Distributes offers among processes. The first ones stay in this process, which has peers for `mostHere` of them. */
function share(
  own: Share,
  mostHere: number,
  from: { readonly seeds: boolean },
  offers: readonly Offer[],
  elsewhere: readonly ProcessCount[],
  random: () => number,
): Omit<Distribution<never>, 'here'> {
  const others = elsewhere.map((count): Share => ({ left: count.others + (from.seeds ? 0 : count.seeders), taken: 0 }))
  for (let i = 0; i < offers.length; i++) takeShare([own, ...others], mostHere, random)
  let next = own.taken
  const away = new Map<string, readonly Offer[]>()
  for (const [i, { process }] of elsewhere.entries()) {
    const taken = others[i]?.taken ?? 0
    if (taken > 0) away.set(process, offers.slice(next, next + taken))
    next += taken
  }
  return { elsewhere: away, left: offers.slice(next) }
}

/** Assigns one more offer to a random process, weighted by its peers without one. The first share is this process. */
function takeShare(shares: Share[], mostHere: number, random: () => number): void {
  const total = shares.reduce((sum, { left }) => sum + left, 0)
  let dice = random() * total
  for (const [i, share] of shares.entries()) {
    dice -= share.left
    if (dice >= 0 || share.left === 0) continue
    share.left -= 1
    share.taken += 1
    if (i === 0 && share.taken === mostHere) share.left = 0
    return
  }
}

const STRIDES = [1, 7, 11, 13, 17, 19, 23, 29, 31, 37]

function strideFor(size: number, random: () => number): number {
  const stride = STRIDES[Math.floor(random() * STRIDES.length)] ?? 1
  return size % stride === 0 ? 1 : stride
}
