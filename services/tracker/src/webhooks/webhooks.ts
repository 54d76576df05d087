import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { WebhookFormat } from './payloads.ts'

/** A webhook. Its URL may contain secrets of the receiver, so it is never shown. */
export type Webhook = {
  readonly id: string
  /** The owner; null for a webhook of the site. */
  readonly userId: string | null
  readonly url: string
  readonly format: WebhookFormat
  /** Only torrents that match this saved search are sent. */
  readonly savedSearch: string | null
  readonly enabled: boolean
  readonly created: Date
  /** How often the receiver failed in a row, from 0 again after a skipped event, and when the next attempt is due. */
  readonly failures: number
  readonly retryAt: Date | null
  /** The last attempt: its time, and the status of its response or why there is none. */
  readonly attempted: Date | null
  readonly result: string | null
}

export type NewWebhook = Pick<Webhook, 'id' | 'userId' | 'url' | 'format' | 'savedSearch' | 'created'>

export type WebhookChanges = {
  readonly url?: string | undefined
  readonly format?: WebhookFormat | undefined
  readonly savedSearch?: string | null | undefined
  readonly enabled?: boolean | undefined
}

/** Who owns a webhook: a member, or the site, on whose behalf an administrator acts. */
export type Owner = { readonly userId: string } | { readonly by: string }

/** The store of webhooks. Each method is one atomic change, which the admin log records with `by`. */
export type WebhookStore = {
  /** Adds a webhook that receives events from now on. @param most the number of webhooks of an owner */
  add(webhook: NewWebhook, most: number, by: ActedBy | undefined): Promise<'done' | 'full' | 'unknown saved search'>
  /** The webhooks of a user, or of the site, in the order in which they were added. */
  listBy(userId: string | null): Promise<readonly Webhook[]>
  find(id: string, userId: string | null): Promise<Webhook | undefined>
  /** Changes a webhook. A new receiver counts as reachable; one that was disabled continues with new events. */
  change(
    id: string,
    userId: string | null,
    changes: WebhookChanges,
    by: ActedBy | undefined,
  ): Promise<'done' | 'unknown' | 'unknown saved search'>
  /** @returns whether it existed */
  remove(id: string, userId: string | null, by: ActedBy | undefined): Promise<boolean>
}

export type Webhooks = ReturnType<typeof createWebhooks>

const MOST = { member: 5, site: 10 }
const MAX_URL_LENGTH = 2_000

/**
 * The webhooks of members and of the site.
 *
 * @param deps `allowPrivate` accepts `http://` and addresses that are not public; `sendTest` resolves with the result
 */
export function createWebhooks(deps: {
  store: WebhookStore
  mayConnect: (hostname: string) => boolean
  allowPrivate: boolean
  sendTest: (webhook: Webhook) => Promise<string>
  clock: Clock
}) {
  const { store, clock } = deps
  const userIdOf = (owner: Owner): string | null => ('userId' in owner ? owner.userId : null)
  const actorOf = (owner: Owner): ActedBy | undefined => ('by' in owner ? actedBy(clock, owner.by) : undefined)

  function requireUrl(text: string): string {
    const problem = urlProblem(text)
    if (problem !== undefined) throw apiError('BAD_REQUEST', `url: ${problem}`)
    const url = new URL(text)
    url.hash = ''
    return url.href
  }

  function urlProblem(text: string): string | undefined {
    if (text.length > MAX_URL_LENGTH || !URL.canParse(text))
      return `must be a URL of at most ${MAX_URL_LENGTH} characters`
    const { protocol, hostname, username, password } = new URL(text)
    if (protocol !== 'https:' && !(protocol === 'http:' && deps.allowPrivate)) return 'must begin with https://'
    if (username + password !== '') return 'must not contain a user or password'
    return deps.mayConnect(hostname) ? undefined : 'must not have a private address'
  }

  function requireSearch(owner: Owner, savedSearch: string | null | undefined): void {
    if (typeof savedSearch === 'string' && (!isId(savedSearch) || !('userId' in owner))) throw unknownSearch()
  }

  return {
    listBy: (owner: Owner) => store.listBy(userIdOf(owner)),

    /** @throws ApiError BAD_REQUEST, NOT_FOUND for an unknown saved search, CONFLICT if the owner has too many */
    async add(owner: Owner, input: Pick<Webhook, 'url' | 'format' | 'savedSearch'>): Promise<string> {
      requireSearch(owner, input.savedSearch)
      const webhook = { ...input, url: requireUrl(input.url), id: newId(), userId: userIdOf(owner) }
      const most = 'userId' in owner ? MOST.member : MOST.site
      const outcome = await store.add({ ...webhook, created: new Date(clock.now()) }, most, actorOf(owner))
      if (outcome === 'unknown saved search') throw unknownSearch()
      if (outcome === 'full')
        throw apiError('CONFLICT', `There are already ${most} webhooks. Delete one of them first.`)
      return webhook.id
    },

    /** @throws ApiError BAD_REQUEST, NOT_FOUND */
    async change(owner: Owner, id: string, changes: WebhookChanges): Promise<void> {
      requireSearch(owner, changes.savedSearch)
      const url = changes.url === undefined ? undefined : requireUrl(changes.url)
      const changed = isId(id)
        ? await store.change(id, userIdOf(owner), { ...changes, url }, actorOf(owner))
        : 'unknown'
      if (changed === 'unknown') throw notFound()
      if (changed === 'unknown saved search') throw unknownSearch()
    },

    /** @throws ApiError NOT_FOUND */
    async remove(owner: Owner, id: string): Promise<void> {
      if (!isId(id) || !(await store.remove(id, userIdOf(owner), actorOf(owner)))) throw notFound()
    },

    /** Sends a test, even to a disabled webhook. @returns the status of the response, or why there is none */
    async test(owner: Owner, id: string): Promise<string> {
      const webhook = isId(id) ? await store.find(id, userIdOf(owner)) : undefined
      if (webhook === undefined) throw notFound()
      return deps.sendTest(webhook)
    },
  }
}

/** The part of a URL that is shown and recorded. */
export function shownUrl(url: string): string {
  return new URL(url).origin
}

function notFound(): Error {
  return apiError('NOT_FOUND', 'There is no such webhook.')
}

function unknownSearch(): Error {
  return apiError('NOT_FOUND', 'There is no such saved search.')
}
