import { createHmac, type KeyObject } from 'node:crypto'
import { importPrivateKey, type SigningKey, signRequest } from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Editor } from '../access/administrator.ts'
import { PROJECT_NAME } from '../access/names.ts'
import { type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, noSuch } from '../errors.ts'
import type { AuthenticRows, Sealed, WebhookRow } from '../integrity/rows.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import { payloadOf, TEST_EVENT, testEvent } from './events.ts'

/** A webhook as administrators see it. */
export type Webhook = {
  readonly id: string
  /** Without its query, which may be a secret of the receiver. */
  readonly url: string
  readonly hasQuery: boolean
  readonly enabled: boolean
  readonly createdAt: Date
  /** How often its receiver failed in a row; then no delivery is attempted before `retryAt`. */
  readonly failures: number
  readonly retryAt: Date | null
}

/** A stored webhook with the state of its receiver. */
export type StoredWebhook = Sealed<WebhookRow> & Pick<Webhook, 'failures' | 'retryAt'>

/** A delivery in the log. */
export type Delivery = {
  readonly id: string
  readonly event: string
  readonly createdAt: Date
  readonly attempts: number
  /** When the next attempt is due; null if it was delivered or given up. */
  readonly nextAt: Date | null
  readonly deliveredAt: Date | null
  /** The status of the last response, and what went wrong at the last attempt. */
  readonly httpStatus: number | null
  readonly problem: string | null
}

/** A delivery to insert. */
export type NewDelivery = {
  readonly id: string
  readonly webhookId: string
  readonly event: string
  readonly payload: string
  readonly createdAt: Date
  readonly code: Buffer
}

/** Webhooks. Every writing method is one transaction, together with its audit entry. */
export type WebhookStore = {
  /** The webhooks of a project in the order in which they were added; undefined if it does not exist. */
  listOf(project: string): Promise<readonly StoredWebhook[] | undefined>
  add(
    project: string,
    by: Editor,
    max: number,
    seal: (projectUid: string) => Sealed<WebhookRow>,
    entry: NewEntry,
  ): Promise<'added' | 'no project' | 'full'>
  /** Locks a webhook, calls `decide` with it and writes the result. Its receiver counts as reachable again. */
  change(
    project: string,
    by: Editor,
    id: string,
    decide: (webhook: Sealed<WebhookRow>) => Sealed<WebhookRow>,
    entryFor: (changed: Sealed<WebhookRow>) => NewEntry,
  ): Promise<boolean>
  /** Removes a webhook with its deliveries. */
  remove(project: string, by: Editor, id: string, entryFor: (url: string) => NewEntry): Promise<boolean>
  /** Inserts a delivery. */
  deliver(project: string, by: Editor, delivery: NewDelivery, entryFor: (url: string) => NewEntry): Promise<boolean>
  /** Deliveries of a webhook, newest first; undefined if it is not one of the project's. */
  deliveriesOf(project: string, id: string, limit: number): Promise<readonly Delivery[] | undefined>
}

/** The name of the vault in its own signatures: `keyid` is `vault.agents.vault.local`. */
export const SIGNER = 'vault'

const MAX_PER_PROJECT = 10
const MAX_URL_LENGTH = 2_000

/**
 * The key with which the vault signs its own requests. It is derived from the key of the audit chain, which is random,
 * stored wrapped, and outlives every rotation of key-encryption keys; so the database alone can neither read nor replace it.
 */
export function createWebhookKey(chainKey: KeyObject): SigningKey {
  return importPrivateKey(createHmac('sha256', chainKey).update('vault/webhook-key/1').digest())
}

/** The webhooks of projects. */
export type Webhooks = ReturnType<typeof createWebhooks>

/**
 * Creates the use cases of webhooks.
 *
 * @param deps `allowPrivate` accepts URLs with `http://` and addresses that are not public
 */
export function createWebhooks(deps: {
  store: WebhookStore
  rows: Pick<AuthenticRows, 'webhooks' | 'deliveries'>
  signingKey: SigningKey
  mayConnect: (hostname: string) => boolean
  inTurn: OwnerTurns
  clock: Clock
  /** The clock of the deliveries, shared by all replicas. */
  sharedClock: Clock
  allowPrivate: boolean
}) {
  const { store, rows, signingKey, mayConnect, inTurn, clock, sharedClock, allowPrivate } = deps

  function requireUrl(text: string): string {
    const problem = urlProblem(text, allowPrivate, mayConnect)
    if (problem !== undefined) throw apiError('invalid_request', `url: ${problem}.`)
    const { href } = withoutHash(new URL(text))
    try {
      const now = { created: Math.floor(clock.now() / 1000), nonce: '0'.repeat(32) }
      signRequest({ method: 'POST', url: href, project: SIGNER, key: signingKey, ...now })
    } catch {
      throw apiError('invalid_request', 'url: requests to this URL cannot be signed.')
    }
    return href
  }

  const turnOf = (project: string, { actor, wanted }: Editor) => ({ owner: actor, project, wanted })
  const isNamed = (project: string, id: string): boolean => PROJECT_NAME.test(project) && isId(id)

  return {
    /** The key that verifies the signatures of all webhooks, as 64 hex digits. */
    publicKey: signingKey.publicKeyHex,

    /** Returns the webhooks of a project. @throws ApiError not_found */
    listOf: async (project: string): Promise<readonly Webhook[]> => {
      const listed = PROJECT_NAME.test(project) ? await store.listOf(project) : undefined
      if (listed === undefined) throw noSuch('project')
      return listed.filter(rows.webhooks.accept).map((row) => ({
        ...{ id: row.id, url: shownUrl(row.url), hasQuery: new URL(row.url).search !== '', enabled: row.enabled },
        ...{ createdAt: row.createdAt, failures: row.failures, retryAt: row.retryAt },
      }))
    },

    /** @returns its id @throws ApiError invalid_request, not_found, too_many_webhooks */
    add: async (project: string, given: string, by: Editor): Promise<string> => {
      const url = requireUrl(given)
      const id = newId()
      const createdAt = new Date(clock.now())
      const seal = (projectUid: string) =>
        rows.webhooks.seal({ id, projectUid, url, enabled: true, revision: 1, createdAt })
      const entry = newEntry(clock, { action: 'webhook.create', by, detail: { webhook: id, url: shownUrl(url) } })
      const outcome = await inTurn(turnOf(project, by), () => store.add(project, by, MAX_PER_PROJECT, seal, entry))
      if (outcome === 'no project') throw noSuch('project')
      if (outcome === 'full')
        throw apiError('too_many_webhooks', `The project already has ${String(MAX_PER_PROJECT)} webhooks.`)
      return id
    },

    /** Changes a webhook. A stopped one receives no further events. @throws ApiError invalid_request, not_found */
    update: async (
      project: string,
      id: string,
      change: { readonly url?: string | undefined; readonly enabled?: boolean | undefined },
      by: Editor,
    ): Promise<void> => {
      const url = change.url === undefined ? undefined : requireUrl(change.url)
      const decide = (row: Sealed<WebhookRow>) => {
        if (!rows.webhooks.accept(row))
          throw apiError('decryption_failed', 'The stored webhook was not written by the vault.')
        const changed = { ...row, url: url ?? row.url, enabled: change.enabled ?? row.enabled }
        return rows.webhooks.seal({ ...changed, revision: row.revision + 1 })
      }
      const entryFor = (row: WebhookRow) =>
        newEntry(clock, {
          action: 'webhook.update',
          by,
          detail: { webhook: id, url: shownUrl(row.url), enabled: row.enabled },
        })
      const isChanged =
        isNamed(project, id) &&
        (await inTurn(turnOf(project, by), () => store.change(project, by, id, decide, entryFor)))
      if (!isChanged) throw noSuch('webhook')
    },

    /** Removes a webhook and its log. Nothing more is sent to it. @throws ApiError not_found */
    remove: async (project: string, id: string, by: Editor): Promise<void> => {
      const entryFor = (url: string) =>
        newEntry(clock, { action: 'webhook.delete', by, detail: { webhook: id, url: shownUrl(url) } })
      const isRemoved =
        isNamed(project, id) && (await inTurn(turnOf(project, by), () => store.remove(project, by, id, entryFor)))
      if (!isRemoved) throw noSuch('webhook')
    },

    /** Adds a test event, even to a stopped webhook. @returns the id of the delivery @throws ApiError not_found */
    test: async (project: string, id: string, by: Editor): Promise<string> => {
      const createdAt = new Date(sharedClock.now())
      const delivery = newId()
      const payload = payloadOf(delivery, testEvent(project, createdAt, by.actor))
      const row = rows.deliveries.seal({ id: delivery, webhookId: id, event: TEST_EVENT, payload, createdAt })
      const entryFor = (url: string) =>
        newEntry(clock, { action: 'webhook.test', by, detail: { webhook: id, url: shownUrl(url) } })
      const isAdded =
        isNamed(project, id) && (await inTurn(turnOf(project, by), () => store.deliver(project, by, row, entryFor)))
      if (!isAdded) throw noSuch('webhook')
      return delivery
    },

    /** Returns the newest deliveries of a webhook. @throws ApiError not_found */
    deliveriesOf: async (project: string, id: string, limit: number): Promise<readonly Delivery[]> => {
      const listed = isNamed(project, id) ? await store.deliveriesOf(project, id, limit) : undefined
      if (listed === undefined) throw noSuch('webhook')
      return listed
    },
  }
}

/** The part of a URL that is shown and recorded. */
function shownUrl(text: string): string {
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname}`
}

function withoutHash(url: URL): URL {
  url.hash = ''
  return url
}

function urlProblem(
  text: string,
  allowPrivate: boolean,
  mayConnect: (hostname: string) => boolean,
): string | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return 'must be a URL of at most 2000 characters'
  const { protocol, hostname, username, password } = new URL(text)
  if (protocol !== 'https:' && !(protocol === 'http:' && allowPrivate))
    return 'must begin with https://, unless WEBHOOK_ALLOW_PRIVATE is set'
  if (username + password !== '') return 'must not contain a user or password'
  return mayConnect(hostname) ? undefined : 'must not have a private address, unless WEBHOOK_ALLOW_PRIVATE is set'
}
