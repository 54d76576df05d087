import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Offer } from './messages.ts'

/** A client in a swarm, in strings of one character for each byte. */
export type Client = {
  readonly swarm: string
  /** Peers of one owner are not introduced to each other. */
  readonly owner: string
  readonly peerId: string
}

/** A peer that has a socket of this process. Signalling sets every member except the peer id. */
export type SignalPeer = {
  /** Names this stay of the client in the swarm, and nothing else in this process; 0 before the peer joins. */
  serial: number
  swarm: string
  owner: string
  readonly peerId: string
  /** Whether it is a seeder or a partial seed, whose offers go to leechers only. */
  seeds: boolean
  /** Its index in the list of the seeders, or of the others, of its swarm. */
  place: number
  /** The offers that it was sent and may answer. */
  waiting: Map<string, Waiting> | undefined
}

/** Who made an offer: a process, named by 16 hex digits, and a peer of it. */
export type Origin = { readonly process: string; readonly serial: number }

/** The sender of offers, as other processes know it. */
export type OfferSender = Origin & { readonly owner: string; readonly peerId: string; readonly seeds: boolean }

/** How many peers of a swarm another process has. Partial seeds count as seeders. */
export type ProcessCount = { readonly process: string; readonly seeders: number; readonly others: number }

/** An offer that waits for the answer of a peer. */
export type Waiting = { readonly origin: Origin; readonly until: number }

/** An offer and the peer of this process that it goes to. */
export type Delivery<Peer> = { readonly to: Peer; readonly offer: Offer }

/** How the offers of one announce are shared out: each goes to one peer, to one process, or to none. */
export type Distribution<Peer> = {
  readonly here: readonly Delivery<Peer>[]
  readonly elsewhere: ReadonlyMap<string, readonly Offer[]>
  /** The offers that are left when every other peer of the swarm has one. */
  readonly left: readonly Offer[]
}

type Swarm<Peer> = {
  readonly name: string
  readonly seeders: Peer[]
  readonly others: Peer[]
  readonly byClient: Map<string, Peer>
}

/** The client forgets an offer after 50 s; slow ones get some more. */
const OFFER_LIFE_MS = 120_000
/** The rest of an announce's offers comes when Redis has answered. */
const REST_WITHIN_MS = 10_000
/** How many offers wait for the answer of one peer; the oldest is dropped. */
const MAX_WAITING = 256
const NOWHERE: ReadonlyMap<string, readonly Offer[]> = new Map()

/** Decides, among the peers of one process, who gets which offer and which answers are relayed. */
export class Signalling<Peer extends SignalPeer> {
  private readonly clock: Clock
  private readonly random: () => number
  private readonly swarms = new Map<string, Swarm<Peer>>()
  private readonly serials = new Map<number, Peer>()
  private lastSerial = 0

  /** @param random gives numbers from 0 to 1 */
  constructor(clock: Clock, random: () => number) {
    this.clock = clock
    this.random = random
  }

  /** Adds a peer to its swarm, or changes its role. It takes the place of another peer of the same client. */
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
    // Strings that are the same are stored once.
    peer.swarm = swarm.name
    peer.owner = known?.owner ?? owner
    peer.seeds = seeds
    peer.place = partOf(swarm, peer).push(peer) - 1
    if (known === peer) return
    swarm.byClient.set(owner + peerId, peer)
    this.serials.set(peer.serial, peer)
  }

  /** Removes a peer, unless another one has taken its place. Returns whether it was there. */
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

  /** The peer that a serial number names, until it leaves. */
  bySerial(serial: number): Peer | undefined {
    return this.serials.get(serial)
  }

  peersOf(swarm: string): Peer[] {
    return [...(this.swarms.get(swarm)?.byClient.values() ?? [])]
  }

  /**
   * Shares the offers of a peer out among all others of its swarm at random, one offer to each.
   *
   * @param elsewhere the other processes that have peers of the swarm
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

  /** Shares offers out in the same way, among the peers of other processes only. */
  distributeElsewhere(
    from: OfferSender,
    offers: readonly Offer[],
    elsewhere: readonly ProcessCount[],
  ): ReadonlyMap<string, readonly Offer[]> {
    if (offers.length === 0 || elsewhere.length === 0) return NOWHERE
    return share({ left: 0, taken: 0 }, 0, from, offers, elsewhere, this.random).elsewhere
  }

  /**
   * Shares out the offers that a peer of another process sent to this one.
   *
   * @param isRest whether others of the same announce came before; a peer that got one of them gets no second one
   */
  receive(from: OfferSender, swarm: string, offers: readonly Offer[], isRest = false): readonly Delivery<Peer>[] {
    return this.deliver(from, this.pick(from, this.swarms.get(swarm), offers.length, isRest), offers)
  }

  /**
   * Returns who made the offer that a peer answers, if that peer received it within the last two minutes and has not
   * answered it yet.
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
    // A stride without a common divisor visits every place once, and neighbours do not stay neighbours.
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

  /** Gives each of these peers one offer. */
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
      // Two users may claim the same peer id; the answer could go to either.
      if (waiting.has(key)) continue
      waiting.set(key, pending)
      deliveries.push({ to, offer })
    }
    return deliveries
  }
}

/** Names a client in one string. */
export function keyOf({ swarm, owner, peerId }: Client): string {
  return swarm + owner + peerId
}

function partOf<Peer extends SignalPeer>({ seeders, others }: Swarm<Peer>, { seeds }: Peer): Peer[] {
  return seeds ? seeders : others
}

/** Takes a peer out of its list; the last one takes its place. */
function takeOut<Peer extends SignalPeer>(swarm: Swarm<Peer>, peer: Peer): void {
  const part = partOf(swarm, peer)
  const last = part.pop()
  if (last === undefined || last === peer) return
  part[peer.place] = last
  last.place = peer.place
}

/** How many peers without an offer a process has, and how many offers it takes. */
type Share = { left: number; taken: number }

/** Shares offers out among processes: the first ones go to this process, which has a peer for `mostHere` of them. */
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

/** Gives one more offer to a process, with a probability in proportion to its peers without one. The first share is that of this process. */
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
