import { addressFromText } from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { Listed, Page } from '../pagination.ts'

/** How a user was seen: with a session; with a key of Torznab, a feed or the API; or by an announce. */
export const ADDRESS_KINDS = ['web', 'api', 'announce'] as const
export type AddressKind = (typeof ADDRESS_KINDS)[number]

/** Requests of a user from an address. */
export type SeenAddress = {
  readonly userId: string
  /** An IPv4 address, or the /64 of an IPv6 address, as in limits. */
  readonly address: string
  readonly kind: AddressKind
  readonly requests: number
  readonly firstAt: Date
  readonly lastAt: Date
}

/** A stored address of a user, as staff see it. */
export type ListedAddress = Omit<SeenAddress, 'userId'> & {
  readonly user: { readonly id: string; readonly username: string }
  /** How many users were seen from the address; at most `MAX_USERS_COUNTED`. */
  readonly users: number
}

/** Undefined fields do not narrow the list. */
export type AddressQuery = Page & {
  /** An id or a name. */
  readonly user?: string | undefined
  readonly address?: string | undefined
}

/** Bounds of the stored addresses. */
export type AddressBounds = { readonly before: Date; readonly rows: number }

/** All methods throw an error that `isUnavailable` recognises if Postgres is unavailable. */
export type AddressStore = {
  /** Adds requests, and deletes the oldest addresses of users with more than `MAX_PER_USER`. */
  add(seen: readonly SeenAddress[]): Promise<void>
  /** Deletes addresses not seen since a time, and the oldest ones beyond a number. */
  prune(bounds: AddressBounds): Promise<void>
  /** Last seen first. */
  list(query: AddressQuery): Promise<Listed<ListedAddress>>
}

/** Records from where users make requests. Never waits and never fails. */
export type RecordAddress = {
  /** @param address 4 or 16 bytes */
  ofBytes(userId: string, kind: AddressKind, address: Uint8Array): void
  ofText(userId: string, kind: AddressKind, address: string): void
}

/** Addresses per user. A member with a mobile connection has a few dozen per month. */
export const MAX_PER_USER = 100
export const MAX_USERS_COUNTED = 100
/** About 280 MB with indexes. */
const MAX_ROWS = 1_000_000
/** Per process, about 50 MB. Further addresses are not recorded until others have been written. */
const MAX_WAITING = 200_000
/** An address of a user is written at once when it is new, and then at most once in this time. */
const WRITE_EVERY_MS = 3_600_000
const MAX_BATCH = 1_000
/** Users that a flush looks through for what is due, or a hundredth if that is more, so that announces do not wait. */
const USERS_PER_FLUSH = 1_000
const DAY_MS = 86_400_000

/** The requests of a user from an address since the last write, in milliseconds since the epoch. */
type Counted = {
  readonly kind: AddressKind
  readonly isIpv6: boolean
  /** The first and the next four bytes of the address as integers; an IPv4 address has only the first. */
  readonly high: number
  readonly low: number
  requests: number
  firstMs: number
  lastMs: number
  /** -Infinity before the first write. */
  writtenMs: number
}

/** A user and what was counted for one of their addresses. */
type Row = readonly [userId: string, counted: Counted]

export type Addresses = ReturnType<typeof createAddresses>

/**
 * Records the addresses of users, so that administrators find shared and stolen accounts. Requests are counted in memory
 * and written in batches: an announce costs no write.
 *
 * @param deps `keepDays` is how long an address stays after its last request; 0 records none
 */
export function createAddresses(deps: {
  store: AddressStore
  clock: Clock
  keepDays: number
  onError: (error: unknown) => void
}) {
  const { store, clock, keepDays } = deps
  const users = new Map<string, Counted[]>()
  let waiting = 0
  /** New addresses. */
  let fresh: Row[] = []
  /** The user at whom the next flush continues. */
  let next = users.entries()
  let flushing = Promise.resolve()

  function ofBytes(userId: string, kind: AddressKind, address: Uint8Array): void {
    if (keepDays === 0) return
    const now = clock.now()
    const seen = users.get(userId)
    const isIpv6 = address.length === 16
    const high = integerAt(address, 0)
    const low = isIpv6 ? integerAt(address, 4) : 0
    const known = seen?.find(
      (each) => each.high === high && each.low === low && each.kind === kind && each.isIpv6 === isIpv6,
    )
    if (known !== undefined) {
      if (known.requests === 0) known.firstMs = now
      known.requests += 1
      known.lastMs = now
      return
    }
    if (waiting >= MAX_WAITING || (seen !== undefined && seen.length >= MAX_PER_USER)) return
    waiting += 1
    const times = { firstMs: now, lastMs: now, writtenMs: Number.NEGATIVE_INFINITY }
    const counted = { kind, isIpv6, high, low, requests: 1, ...times }
    fresh.push([userId, counted])
    if (seen === undefined) users.set(userId, [counted])
    else seen.push(counted)
  }

  /** What is new or due. Forgets addresses that were not seen for a while. */
  function takeDue(isLast: boolean): readonly Row[] {
    const due = new Map(fresh.map((row) => [row[1], row]))
    fresh = []
    const visits = isLast ? users.size : Math.min(users.size, Math.max(USERS_PER_FLUSH, users.size / 100))
    for (let i = 0; i < visits; i += 1) {
      let found = next.next()
      if (found.done === true) {
        next = users.entries()
        found = next.next()
      }
      if (found.done === true) break
      const [userId, seen] = found.value
      for (const counted of dueOf(userId, seen, isLast)) due.set(counted, [userId, counted])
    }
    return [...due.values()]
  }

  function dueOf(userId: string, seen: readonly Counted[], isLast: boolean): readonly Counted[] {
    const now = clock.now()
    const isDue = ({ writtenMs }: Counted): boolean => isLast || now - writtenMs >= WRITE_EVERY_MS
    // If the clock went back, the wait starts again.
    for (const each of seen) each.writtenMs = Math.min(each.writtenMs, now)
    const kept = seen.filter((each) => !isDue(each) || each.requests > 0)
    waiting -= seen.length - kept.length
    if (kept.length === 0) users.delete(userId)
    else if (kept.length < seen.length) users.set(userId, kept)
    return kept.filter(isDue)
  }

  /** @throws an error that `isUnavailable` recognises; the batch stays in memory then */
  async function write(batch: readonly Row[]): Promise<void> {
    const rows = batch.map(([userId, seen]) => rowOf(userId, seen))
    try {
      await store.add(rows)
    } catch (error) {
      if (isUnavailable(error)) throw error
      // A batch that can never be written must not be repeated forever.
      deps.onError(error)
    }
    const now = clock.now()
    for (const [i, [, seen]] of batch.entries()) {
      // Requests during the write are for the next one.
      seen.requests -= rows[i]?.requests ?? 0
      seen.firstMs = seen.lastMs
      seen.writtenMs = now
    }
  }

  return {
    record: {
      ofBytes,
      ofText: (userId, kind, text) => {
        const address = addressFromText(text)
        if (address !== undefined) ofBytes(userId, kind, address)
      },
    } satisfies RecordAddress,

    /**
     * Writes addresses that are new or due, after an earlier call has ended.
     *
     * @param isLast writes all, before the process stops
     * @throws an error that `isUnavailable` recognises
     */
    flush(isLast = false): Promise<void> {
      flushing = flushing
        .catch(() => undefined)
        .then(async () => {
          const due = takeDue(isLast)
          for (let i = 0; i < due.length; i += MAX_BATCH) await write(due.slice(i, i + MAX_BATCH))
        })
      return flushing
    },

    /** Deletes addresses beyond the retention and the bound. */
    prune: (): Promise<void> => store.prune({ before: new Date(clock.now() - keepDays * DAY_MS), rows: MAX_ROWS }),

    list: (query: AddressQuery): Promise<Listed<ListedAddress>> => store.list(query),
  }
}

/** Four bytes as an integer. */
function integerAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
}

function rowOf(userId: string, seen: Counted): SeenAddress {
  const { kind, requests, firstMs, lastMs } = seen
  return { userId, kind, address: textOf(seen), requests, firstAt: new Date(firstMs), lastAt: new Date(lastMs) }
}

/** An address as `addressKey` writes it: a subscriber has at least a /64 of IPv6 addresses. */
function textOf({ isIpv6, high, low }: Counted): string {
  const halves = [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff]
  if (isIpv6) return `${halves.map((group) => group.toString(16)).join(':')}::/64`
  return [high >>> 24, (high >>> 16) & 0xff, (high >>> 8) & 0xff, high & 0xff].join('.')
}
