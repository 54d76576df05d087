import type { Action, NewEntry } from '../audit/audit.ts'

/** The events that webhooks receive, by the audited action they report. */
const EVENTS: Partial<Record<Action, string>> = {
  put: 'secret.put',
  delete: 'secret.deleted',
  restore: 'secret.restored',
  inherit: 'environment.inherited',
  'key.add': 'key.added',
  rotate: 'key.rotated',
  'key.revoke': 'key.revoked',
}

/** The event of a test. */
export const TEST_EVENT = 'webhook.test'

/** A key of a secret with its new version; without one, it was deleted. */
export type ChangedSecret = { readonly key: string; readonly version: number | undefined }

/** An event without the id of its delivery. */
export type WebhookEvent = { readonly event: string; readonly members: Readonly<Record<string, unknown>> }

/** More keys than an administrator copies by hand. A receiver that needs all of them lists the environment. */
const MAX_SECRETS = 500

/** The event of a change of secrets: names and versions, never values. */
export function secretEvent(
  project: string,
  entry: NewEntry,
  secrets: readonly ChangedSecret[],
): WebhookEvent | undefined {
  return eventOf(project, entry, {
    env: entry.env,
    secrets: secrets
      .slice(0, MAX_SECRETS)
      .map(({ key, version }) => ({ key, ...(version !== undefined && { version }) })),
    ...(secrets.length > MAX_SECRETS && { omitted: secrets.length - MAX_SECRETS }),
  })
}

/** The event of a new parent of an environment. */
export function inheritanceEvent(project: string, entry: NewEntry): WebhookEvent | undefined {
  return eventOf(project, entry, { env: entry.env, parent: entry.detail?.['parent'] ?? null })
}

/** The event of a change of a project's keys; undefined for a change of something else. */
export function keyEvent(project: string, entry: NewEntry): WebhookEvent | undefined {
  const { name = null, fingerprint = null } = entry.detail ?? {}
  return eventOf(project, entry, { key: { name, fingerprint } })
}

/** The event of a test. */
export function testEvent(project: string, at: Date, actor: string): WebhookEvent {
  return { event: TEST_EVENT, members: { project, actor, at: at.toISOString() } }
}

function eventOf(
  project: string,
  { action, actor, requestedAt }: NewEntry,
  members: Readonly<Record<string, unknown>>,
): WebhookEvent | undefined {
  const event = EVENTS[action]
  if (event === undefined) return undefined
  return { event, members: { project, ...members, actor, at: requestedAt.toISOString() } }
}

/** The body of a delivery. Every attempt sends the same bytes. */
export function payloadOf(id: string, { event, members }: WebhookEvent): string {
  return JSON.stringify({ id, event, ...members })
}
