import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { DEFAULT_KEY } from '../access/names.ts'

/** The recorded actions. */
export const ACTIONS = [
  'fetch',
  'rotate',
  'put',
  'delete',
  'restore',
  'annotate',
  'inherit',
  'project.create',
  'project.update',
  'project.delete',
  'project.authenticate',
  'key.add',
  'key.rewrap',
  'key.rotate',
  'key.revoke',
  'key.exchange',
  'trust-rule.create',
  'trust-rule.delete',
  'reference-rule.create',
  'reference-rule.delete',
  'reference',
  'webhook.create',
  'webhook.update',
  'webhook.delete',
  'webhook.test',
  'administrator.create',
  'administrator.delete',
  'session.create',
  'session.delete',
  'read',
  'refused',
] as const
export type Action = (typeof ACTIONS)[number]

/** Names for several actions. Administrators read often, so a page of all entries has little else. */
const GROUPS = { all: ACTIONS, 'without-reads': ACTIONS.filter((action) => action !== 'read') } as const
export type ActionGroup = keyof typeof GROUPS
const isGroup = (action: Action | ActionGroup): action is ActionGroup => Object.hasOwn(GROUPS, action)
export const ACTION_GROUPS = Object.keys(GROUPS) as readonly ActionGroup[]

/** The actions of a listing without `action=`, whose entries have the members of the specification and no others. */
const DEFAULT_ACTIONS: readonly Action[] = ['fetch', 'rotate']

/** Names and numbers that describe an action; never the value of a secret or a private key. */
export type Detail = Readonly<Record<string, string | number | boolean | null>>

/**
 * Who acted, and from where: `key:<fingerprint>` or `key:<fingerprint>/<name>` for a project, `project:<name>` for one that
 * refers to secrets of another, `administrator` for the holder of ADMIN_TOKEN, `administrator:<id>` for a named one,
 * `oidc:<subject>` for one who signed in, `command`, or `unknown` for a refused requester.
 */
export type By = { readonly actor: string; readonly address: string }

/** A key as the actor of an entry. The name is part of it, so that the hash chain covers it also at older replicas. */
export function keyActor(fingerprint: string, name: string): string {
  return `key:${fingerprint}${name === DEFAULT_KEY ? '' : `/${name}`}`
}

/** The actor of an entry without the name of its key, and that name. */
export function readActor(stored: string | null): { actor: string | null; keyName?: string } {
  if (stored?.startsWith('key:') !== true) return { actor: stored }
  const [actor = '', keyName = DEFAULT_KEY] = stored.split('/')
  return { actor, keyName }
}

/** An operator's command on this machine. */
export const BY_COMMAND: By = { actor: 'command', address: '127.0.0.1' }

/** An entry, to insert in the transaction of the change it records. */
export type NewEntry = {
  readonly id: string
  readonly action: Action
  readonly env: string | null
  readonly requestedAt: Date
  readonly address: string
  readonly actor: string
  readonly detail: Detail | null
}

/** The project of an entry: `uid` is null if only its name is known, and the name is empty for an entry without one. */
export type EntryOfProject = {
  readonly entry: NewEntry
  readonly project: { readonly uid: string | null; readonly name: string }
}

/** Returns a new entry with the current time. */
export function newEntry(
  clock: Clock,
  { action, by, env = null, detail = null }: { action: Action; by: By; env?: string | null; detail?: Detail | null },
): NewEntry {
  const { actor, address } = by
  return { id: newId(), action, env, requestedAt: new Date(clock.now()), address, actor, detail }
}

/** An entry in a listing. */
export type ListedEntry = {
  readonly id: string
  readonly projectId: string
  readonly action: Action
  readonly env: string | null
  readonly requestedAt: Date
  readonly address: string
  /** Null in entries of releases that did not record it; not part of the listing without `action=`. */
  readonly actor?: string | null
  /** The name of the key at the time of the entry. */
  readonly keyName?: string
  /** Missing in entries of `fetch`. */
  readonly detail?: Detail | null
}

/** Whose entries are listed; undefined for all. */
export type VisibleProjects = {
  readonly projectIds: readonly string[] | undefined
  /** Of several projects with the same name only these, and entries without the uid of a project. */
  readonly projectUids?: readonly string[] | undefined
}

/** The entries to list, newest first. */
export type AuditQuery = VisibleProjects & {
  readonly filters: {
    /** Without the name of a key. */
    readonly actor?: string | undefined
    readonly keyName?: string | undefined
    readonly env?: string | undefined
    /** The key of the secret. */
    readonly key?: string | undefined
    readonly since?: Date | undefined
    /** Exclusive. */
    readonly until?: Date | undefined
  }
  /** The id of an entry: only older ones are listed. */
  readonly before: string | undefined
  readonly limit: number
}

/** The log. Other stores write to it too, in the transactions of the changes they record. */
export type AuditStore = {
  list(query: AuditQuery & { readonly actions: readonly Action[] }): Promise<readonly ListedEntry[]>
  /** Inserts all entries or none. */
  append(entries: readonly EntryOfProject[]): Promise<void>
  /** Creates the partitions of this month and the next three. */
  ensurePartitions(): Promise<void>
}

/** The data that an administrator read. */
type Read = {
  readonly what:
    | 'projects'
    | 'keys'
    | 'trust-rules'
    | 'reference-rules'
    | 'webhooks'
    | 'secrets'
    | 'environments'
    | 'versions'
    | 'expiring'
    | 'audit'
    | 'administrators'
    | 'sessions'
    | 'overview'
    | 'activity'
    | 'verification'
  /** Undefined for a list of several projects. */
  readonly projectId?: string | undefined
  readonly env?: string | undefined
}

/** The audit log as administrators use it. */
export type AuditLog = ReturnType<typeof createAuditLog>

/** Creates the use cases of the audit log. */
export function createAuditLog(deps: { store: Pick<AuditStore, 'list' | 'append'>; clock: Clock }) {
  const { store, clock } = deps
  return {
    /** Records that an administrator read something; the answer waits for it. */
    noteRead: (by: By, { what, projectId = '', env }: Read): Promise<void> => {
      const entry = newEntry(clock, { action: 'read', by, env: env ?? null, detail: { what } })
      return store.append([{ entry, project: { uid: null, name: projectId } }])
    },

    /** Lists entries, newest first. Without an action, only the fetches and rotations. */
    list: async (query: AuditQuery & { action: Action | ActionGroup | undefined }): Promise<readonly ListedEntry[]> => {
      const { action, ...rest } = query
      if (action !== undefined) return store.list({ ...rest, actions: isGroup(action) ? GROUPS[action] : [action] })
      const entries = await store.list({ ...rest, actions: DEFAULT_ACTIONS })
      return entries.map(({ actor: _actor, keyName: _keyName, detail: _detail, ...entry }) => entry)
    },
  }
}
