import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'
import type { ClientCount } from './client-census.ts'
import { clientName, nameOfPrefix, peerIdFrom, readClient, versionText } from './client-id.ts'
import { type ClientRule, compileRules, MAX_RULES, ruleText } from './client-rules.ts'

/** A client of the last 30 days. */
export type SeenClient = ClientCount & {
  /** Its share of all peers, from 0 to 1. */
  readonly share: number
  readonly lastSeen: Date
}

/** The rules that administrators set, and the counts of clients. All methods throw an error that `isUnavailable` recognises. */
export type ClientStore = {
  /** Null if administrators have set none, so that those of the server apply. */
  rules(): Promise<readonly ClientRule[] | null>
  /** Replaces the rules by those that `decide` returns, atomically, and records the difference in the admin log. */
  change(
    by: ActedBy,
    decide: (rules: readonly ClientRule[] | null) => readonly ClientRule[] | null,
  ): Promise<readonly ClientRule[] | null>
  /** Keeps the highest counts of a day, of the clients with most peers. */
  write(day: Date, counts: readonly ClientCount[]): Promise<void>
  /** The clients since a day, those with most peers first. `peers` is the average per day, `users` the most on one day. */
  seenSince(day: Date): Promise<readonly SeenClient[]>
}

export type Clients = ReturnType<typeof createClients>

/** Days for which the clients are kept and shown. */
export const DAYS = 30
const DAY_MS = 86_400_000

/** The clients in the swarms, and the rules about them. */
export function createClients(deps: {
  store: ClientStore
  /** The rules of the server. */
  defaults: readonly ClientRule[]
  publish: PublishInvalidation
  clock: Clock
}) {
  const { store, defaults, publish, clock } = deps

  async function overview() {
    const [rules, seen] = await Promise.all([store.rules(), store.seenSince(new Date(clock.now() - DAYS * DAY_MS))])
    const compiled = compileRules(rules ?? defaults)
    return {
      rules: rules ?? defaults,
      isDefault: rules === null,
      clients: seen.flatMap((counted) => {
        const peerId = peerIdFrom(counted.client)
        if (peerId === undefined) return []
        const { prefix, version } = readClient(peerId)
        const { isAllowed, rule = null } = compiled.verdict(peerId)
        const numbers = version === undefined ? null : versionText(version)
        return [{ ...counted, name: nameOfPrefix(prefix), prefix, version: numbers, isAllowed, rule }]
      }),
    }
  }

  async function change(
    actorId: string,
    decide: (rules: readonly ClientRule[] | null) => readonly ClientRule[] | null,
  ): ReturnType<typeof overview> {
    await store.change(actedBy(clock, actorId), decide)
    await publish({ kind: 'site-settings' })
    return overview()
  }

  return {
    /** The rules in force, and the clients of the last 30 days. */
    overview,

    /**
     * Adds and removes rules. The first change starts with the rules of the server.
     *
     * @throws ApiError CONFLICT if there would be too many
     */
    change: (actorId: string, changes: { add: readonly ClientRule[]; remove: readonly ClientRule[] }) =>
      change(actorId, (rules) => {
        const removed = new Set(changes.remove.map(ruleText))
        const kept = (rules ?? defaults).filter((rule) => !removed.has(ruleText(rule)))
        const known = new Map([...kept, ...changes.add].map((rule) => [ruleText(rule), rule]))
        if (known.size > MAX_RULES) throw apiError('CONFLICT', `There can be at most ${MAX_RULES} rules.`)
        return [...known.values()]
      }),

    /** Returns to the rules of the server. */
    reset: (actorId: string) => change(actorId, () => null),

    /** Whether a client may announce. @param text the start of a peer id, at most 20 characters */
    async test(text: string) {
      const peerId = peerIdFrom(text)
      if (peerId === undefined) throw apiError('BAD_REQUEST', 'peerId: must be at most 20 characters')
      const rules = compileRules((await store.rules()) ?? defaults)
      const { isAllowed, rule = null } = rules.verdict(peerId)
      return { client: clientName(peerId), isAllowed, rule, reason: isAllowed ? null : rules.explain(peerId) }
    },
  }
}
