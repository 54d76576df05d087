import type { Clock } from '@vault-and-tracker/service-kit/clock'

/** A peer that has a socket of this process. `Socket` is whatever the caller reaches it by. */
export type SignalPeer<Socket> = {
  /** Names this stay of this peer in this swarm, and nothing else in this process. */
  readonly serial: number
  readonly swarm: string
  /** Peers of one owner are not introduced to each other. */
  readonly owner: string
  /** 20 characters, one for each byte. */
  readonly peerId: string
  readonly socket: Socket
  /** Seeders and partial seeds, whose offers go to leechers only. */
  readonly seeds: boolean
}

/** Who made an offer: a process, and there a peer. Processes are named by 16 hex digits. */
export type Origin = { readonly process: string; readonly serial: number }

/** An offer before it is sent to anyone, or an answer. */
export type Offer = {
  /** 20 characters, one for each byte. */
  readonly offerId: string
  /** What is passed on: the session description and the id, as they stand in a message from there to its end. */
  readonly members: string
}

/** The sender of offers, as other processes are told. */
export type OfferSender = Origin & { readonly owner: string; readonly peerId: string; readonly seeds: boolean }

/** How many peers of the swarm another process says it has. */
export type ElsewhereCount = { readonly process: string; readonly seeders: number; readonly others: number }

/** One offer, and the peer of this process that it goes to. */
export type Delivery<Socket> = { readonly to: SignalPeer<Socket>; readonly offer: Offer }

/** How the offers of one announce are shared out: each goes to one peer, or to one process, or to nobody. */
export type Distribution<Socket> = {
  readonly here: readonly Delivery<Socket>[]
  readonly elsewhere: ReadonlyMap<string, readonly Offer[]>
  /** The offers that went to nobody, as all others of the swarm have one. */
  readonly left: readonly Offer[]
}

/** Which offer goes to whom, and which answer is allowed, among the peers of one process. */
export type Signalling<Socket> = {
  /** Adds a peer, or changes its role. One peer at most has the same swarm, owner and peer id. */
  join(peer: Omit<SignalPeer<Socket>, 'serial'>): SignalPeer<Socket>
  leave(peer: SignalPeer<Socket>): void
  find(swarm: string, owner: string, peerId: string): SignalPeer<Socket> | undefined
  /** The peer that a serial number names, while it stays. */
  bySerial(serial: number): SignalPeer<Socket> | undefined
  /** The peers of a swarm. */
  peersOf(swarm: string): readonly SignalPeer<Socket>[]
  /**
   * Shares the offers of a peer out among all others of its swarm, wherever they are, at random: one offer to each.
   *
   * @param elsewhere the other processes that have peers of the swarm
   */
  distribute(
    from: SignalPeer<Socket>,
    offers: readonly Offer[],
    elsewhere: readonly ElsewhereCount[],
  ): Distribution<Socket>
  /** Likewise, among the peers of other processes only. */
  distributeElsewhere(
    from: SignalPeer<Socket>,
    offers: readonly Offer[],
    elsewhere: readonly ElsewhereCount[],
  ): Distribution<Socket>
  /**
   * Shares out the offers that a peer of another process sent to this one.
   *
   * @param isRest others of the same announce came before: whoever was given one gets no second
   */
  receive(from: OfferSender, swarm: string, offers: readonly Offer[], isRest?: boolean): readonly Delivery<Socket>[]
  /**
   * Who made the offer that a peer answers, if it was sent to that peer within two minutes and is not answered yet. From
   * now on it is.
   */
  answered(by: SignalPeer<Socket>, toPeerId: string, offerId: string): Origin | undefined
}

/** The client forgets an offer after 50 s; slow ones get some more. */
const OFFER_LIFE_MS = 120_000
/** The rest of an announce's offers comes when Redis has answered. */
const REST_WITHIN_MS = 10_000
/** Offers that wait for the answer of one peer; the oldest goes. */
const MAX_WAITING = 256

type Waiting = { readonly origin: Origin; readonly until: number }
type Entry<Socket> = { peer: SignalPeer<Socket>; place: number; waiting: Map<string, Waiting> | undefined }
type Swarm<Socket> = {
  readonly name: string
  readonly seeders: Entry<Socket>[]
  readonly others: Entry<Socket>[]
  readonly byClient: Map<string, Entry<Socket>>
}

/**
 * Creates the signalling of one process.
 *
 * @param options `random` gives numbers from 0 to 1
 */
export function createSignalling<Socket>(options: {
  process: string
  clock: Clock
  random: () => number
}): Signalling<Socket> {
  const { process, clock, random } = options
  const swarms = new Map<string, Swarm<Socket>>()
  const serials = new Map<number, Entry<Socket>>()
  let lastSerial = 0

  const remove = (swarm: Swarm<Socket>, entry: Entry<Socket>): void => {
    const part = entry.peer.seeds ? swarm.seeders : swarm.others
    const last = part.pop()
    if (last === undefined || last === entry) return
    part[entry.place] = last
    last.place = entry.place
  }

  const insert = (swarm: Swarm<Socket>, entry: Entry<Socket>): void => {
    const part = entry.peer.seeds ? swarm.seeders : swarm.others
    entry.place = part.push(entry) - 1
  }

  /** Up to `want` others at random, no two of them the same. */
  const pick = (from: OfferSender, swarm: Swarm<Socket> | undefined, want: number, isRest = false): Entry<Socket>[] => {
    if (swarm === undefined) return []
    const { seeders, others } = swarm
    const size = others.length + (from.seeds ? 0 : seeders.length)
    const picked: Entry<Socket>[] = []
    const start = Math.floor(random() * size)
    // A stride without a common divisor visits every place once, and neighbours do not stay neighbours.
    const stride = strideFor(size, random)
    for (let i = 0, at = start; i < size && picked.length < want; i++, at = (at + stride) % size) {
      const entry = at < others.length ? others[at] : seeders[at - others.length]
      if (entry === undefined || entry.peer.owner === from.owner) continue
      if (!isRest || !wasJustGiven(entry, from)) picked.push(entry)
    }
    return picked
  }

  const wasJustGiven = ({ waiting }: Entry<Socket>, from: Origin): boolean => {
    const since = clock.now() + OFFER_LIFE_MS - REST_WITHIN_MS
    for (const { origin, until } of waiting?.values() ?? [])
      if (until > since && origin.serial === from.serial && origin.process === from.process) return true
    return false
  }

  /** Gives each of these peers one offer. */
  const deliverAll = (
    from: OfferSender,
    entries: readonly Entry<Socket>[],
    offers: readonly Offer[],
  ): Delivery<Socket>[] => {
    const now = clock.now()
    const deliveries: Delivery<Socket>[] = []
    const origin: Origin = { process: from.process, serial: from.serial }
    const pending: Waiting = { origin, until: now + OFFER_LIFE_MS }
    for (let i = 0; i < entries.length && i < offers.length; i++) {
      const [entry, offer] = [entries[i], offers[i]]
      if (entry === undefined || offer === undefined) continue
      const waiting = (entry.waiting ??= new Map<string, Waiting>())
      for (const [key, { until }] of waiting) {
        if (until > now && waiting.size < MAX_WAITING) break
        waiting.delete(key)
      }
      const key = from.peerId + offer.offerId
      // Two users may claim the same peer id; the answer could go to either.
      if (waiting.has(key)) continue
      waiting.set(key, pending)
      deliveries.push({ to: entry.peer, offer })
    }
    return deliveries
  }

  return {
    join: (peer) => {
      let swarm = swarms.get(peer.swarm)
      if (swarm === undefined) {
        swarm = { name: peer.swarm, seeders: [], others: [], byClient: new Map<string, Entry<Socket>>() }
        swarms.set(peer.swarm, swarm)
      }
      const client = peer.owner + peer.peerId
      const known = swarm.byClient.get(client)
      if (known !== undefined) remove(swarm, known)
      const { peerId, socket, seeds } = peer
      const serial = known?.peer.serial ?? ++lastSerial
      // Strings that are the same are kept once.
      const joined = { serial, swarm: swarm.name, owner: known?.peer.owner ?? peer.owner, peerId, socket, seeds }
      const entry: Entry<Socket> = known ?? { peer: joined, place: 0, waiting: undefined }
      entry.peer = joined
      if (known === undefined) {
        swarm.byClient.set(client, entry)
        serials.set(serial, entry)
      }
      insert(swarm, entry)
      return joined
    },

    leave: ({ serial }) => {
      const entry = serials.get(serial)
      const swarm = entry && swarms.get(entry.peer.swarm)
      if (entry === undefined || swarm === undefined) return
      remove(swarm, entry)
      serials.delete(serial)
      swarm.byClient.delete(entry.peer.owner + entry.peer.peerId)
      if (swarm.byClient.size === 0) swarms.delete(entry.peer.swarm)
    },

    find: (swarm, owner, peerId) => swarms.get(swarm)?.byClient.get(owner + peerId)?.peer,
    bySerial: (serial) => serials.get(serial)?.peer,
    peersOf: (swarm) => [...(swarms.get(swarm)?.byClient.values() ?? [])].map(({ peer }) => peer),

    distribute: (from, offers, elsewhere) => {
      const sender = { process, serial: from.serial, owner: from.owner, peerId: from.peerId, seeds: from.seeds }
      const swarm = swarms.get(from.swarm)
      const here = pick(sender, swarm, offers.length)
      if (elsewhere.length === 0)
        return { here: deliverAll(sender, here, offers), elsewhere: NOWHERE, left: offers.slice(here.length) }
      const size = (swarm?.others.length ?? 0) + (from.seeds ? 0 : (swarm?.seeders.length ?? 0)) - 1
      const own = { process, left: here.length === 0 ? 0 : Math.max(size, here.length), taken: 0 }
      const shared = share(own, here.length, from, offers, elsewhere, random)
      return { ...shared, here: deliverAll(sender, here.slice(0, own.taken), offers) }
    },

    distributeElsewhere: (from, offers, elsewhere) => {
      if (offers.length === 0 || elsewhere.length === 0) return { here: [], elsewhere: NOWHERE, left: offers }
      return { here: [], ...share({ process, left: 0, taken: 0 }, 0, from, offers, elsewhere, random) }
    },

    receive: (from, swarm, offers, isRest) =>
      deliverAll(from, pick(from, swarms.get(swarm), offers.length, isRest), offers),

    answered: (by, toPeerId, offerId) => {
      const waiting = serials.get(by.serial)?.waiting
      const key = toPeerId + offerId
      const found = waiting?.get(key)
      if (waiting === undefined || found === undefined) return undefined
      waiting.delete(key)
      return found.until > clock.now() ? found.origin : undefined
    },
  }
}

const NOWHERE: ReadonlyMap<string, readonly Offer[]> = new Map()

type Share = { readonly process: string; left: number; taken: number }

/** Shares offers out among processes: the first ones go to this process, which has a peer for `mostHere` of them. */
function share(
  own: Share,
  mostHere: number,
  from: { readonly seeds: boolean },
  offers: readonly Offer[],
  elsewhere: readonly ElsewhereCount[],
  random: () => number,
): Omit<Distribution<never>, 'here'> {
  const others = elsewhere.map((other) => ({
    process: other.process,
    left: other.others + (from.seeds ? 0 : other.seeders),
    taken: 0,
  }))
  const shares = [own, ...others]
  for (let i = 0; i < offers.length; i++) takeShare(shares, mostHere, random)
  let next = own.taken
  const away = new Map<string, readonly Offer[]>()
  for (const { process, taken } of others) {
    if (taken > 0) away.set(process, offers.slice(next, next + taken))
    next += taken
  }
  return { elsewhere: away, left: offers.slice(next) }
}

/** Gives one more offer to a process, the likelier the more peers it has that got none. The first share is this process's. */
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
