import type { GlobalOptions } from '../settings.ts'
import { CommandError, confirm, jsonLine, NotFoundError, printable, type Terminal, table, tell } from '../terminal.ts'
import { type AdminClient, adminClient, type Row } from './client.ts'
import type { ScopeOptions } from './scope.ts'

/** Prints rows as a table of the given columns, or as JSON with all members. */
export function print(
  rows: readonly Row[],
  columns: readonly string[],
  options: GlobalOptions,
  terminal: Terminal,
): void {
  if (options.json === true) {
    terminal.stdout.write(jsonLine(rows))
    return
  }
  terminal.stdout.write(
    table(
      columns.map(heading),
      rows.map((row) => columns.map((column) => cell(row[column]))),
    ),
  )
}

/** The name of a column in words: `LAST USED AT`. */
function heading(column: string): string {
  return column.replaceAll(/(?=[A-Z])/g, ' ').toUpperCase()
}

/** A value as text; `-` for none. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Reports success in words, or as JSON. */
export function done(options: GlobalOptions, terminal: Terminal, text: string, json: object = { ok: true }): void {
  terminal.stdout.write(options.json === true ? jsonLine(json) : `${printable(text)}\n`)
}

/** The scope for a new key, if an option sets one. */
export function scopeOf({ access, envs }: ScopeOptions): object {
  if (access === undefined && envs === undefined) return {}
  return { scope: { ...(access !== undefined && { access }), ...(envs !== undefined && { envs }) } }
}

/** Turns an entry of the audit log into a row, with its details on one line. */
function auditRow(entry: Row): Row {
  const { key, ...rest } = (entry['detail'] ?? {}) as Row
  const detail = Object.entries(rest).map(([name, value]) => `${name}=${cell(value)}`)
  return {
    ...entry,
    time: entry['requestedAt'],
    project: entry['projectId'] || undefined,
    key,
    detail: detail.join(' '),
  }
}

type AuditOptions = { [name in 'action' | 'actor' | 'keyName' | 'env' | 'key' | 'since' | 'before']?: string }

type Listing = 'projects' | 'administrators' | 'sessions'
const COLUMNS = {
  projects: ['id', 'publicKey', 'createdAt'],
  versions: ['version', 'createdAt', 'current'],
  administrators: ['id', 'name', 'role', 'projects', 'expiresAt'],
  sessions: ['id', 'name', 'actor', 'roles', 'expiresAt'],
  audit: ['time', 'project', 'action', 'env', 'key', 'actor', 'keyName', 'ip', 'id', 'detail'],
} as const

/** The actions of `vault admin`. Each asks for the token unless VAULT_ADMIN_TOKEN is set. */
export const adminCommands = {
  list: async (what: Listing, options: GlobalOptions, terminal: Terminal) => {
    const admin = await adminClient(options, terminal)
    print(await admin[what](), COLUMNS[what], options, terminal)
  },

  addProject: async (
    name: string,
    options: GlobalOptions & ScopeOptions & { publicKey: string; requireContentDigest?: boolean },
    terminal: Terminal,
  ) => {
    const { publicKey, requireContentDigest = false } = options
    const project = { name, publicKey, requireContentDigest, ...scopeOf(options) }
    await (await adminClient(options, terminal)).addProject(project)
    done(options, terminal, `Registered project ${name}.`, { ok: true, id: name })
  },

  removeProject: async (id: string, options: GlobalOptions & { yes?: boolean }, terminal: Terminal) => {
    const admin = await adminClient(options, terminal)
    const { length } = await admin.secrets(id)
    const secrets = `${String(length)} ${length === 1 ? 'secret' : 'secrets'}`
    const question = `Delete project ${printable(id)}? This permanently deletes its keys and ${secrets}.`
    await confirm(terminal, question, options)
    await admin.removeProject(id)
    done(options, terminal, `Deleted project ${id} and ${secrets}.`)
  },

  removeSecret: async (id: string, options: GlobalOptions & { yes?: boolean }, terminal: Terminal) => {
    const admin = await adminClient(options, terminal)
    await confirm(terminal, `Delete secret ${printable(id)}? This permanently deletes all its versions.`, options)
    await admin.removeSecret(id)
    done(options, terminal, `Deleted secret ${id}.`)
  },

  versions: async (id: string, options: GlobalOptions, terminal: Terminal) =>
    print(await (await adminClient(options, terminal)).versions(id), COLUMNS.versions, options, terminal),

  restore: async (id: string, version: string, options: GlobalOptions, terminal: Terminal) => {
    await (await adminClient(options, terminal)).restore(id, version)
    done(options, terminal, `Restored version ${version} of secret ${id}.`)
  },

  /** Prints the token, which the vault shows only once. */
  addAdministrator: async (
    name: string,
    options: GlobalOptions & { role: string; projects?: readonly string[]; expires?: number },
    terminal: Terminal,
  ) => {
    const { role, projects, expires } = options
    const admin = await adminClient(options, terminal)
    for (const { id } of (await admin.administrators()).filter((each) => each['name'] === name))
      tell(terminal, `warning: another administrator is named ${name}: ${cell(id)}`)
    const known = projects && new Set((await admin.projects()).map(({ id }) => id))
    for (const project of projects ?? [])
      if (known?.has(project) === false) tell(terminal, `warning: there is no project ${printable(project)} yet`)
    const expiresAt = expires === undefined ? undefined : new Date(Date.now() + expires * 1000).toISOString()
    const added = await admin.addAdministrator({
      ...{ name, role },
      ...(projects !== undefined && { projects }),
      ...(expiresAt !== undefined && { expiresAt }),
    })
    const bounds = [
      ...(projects === undefined ? [] : [`projects: ${projects.join(', ')}`]),
      ...(expiresAt === undefined ? [] : [`until ${expiresAt}`]),
    ].map((each) => `; ${each}`)
    tell(terminal, `added ${name} with the id ${cell(added['id'])} and the role ${role}${bounds.join('')}`)
    done(options, terminal, cell(added['token']), added)
  },

  removeAdministrator: async (nameOrId: string, options: GlobalOptions & { yes?: boolean }, terminal: Terminal) => {
    const admin = await adminClient(options, terminal)
    const [found, other] = (await admin.administrators()).filter(({ id, name }) => id === nameOrId || name === nameOrId)
    if (found === undefined) throw new NotFoundError(`there is no administrator ${printable(nameOrId)}`)
    if (other !== undefined)
      throw new CommandError(`several administrators are named ${printable(nameOrId)}; use an ID`)
    const [id, who] = [cell(found['id']), `${cell(found['role'])} ${printable(cell(found['name']))}`]
    await confirm(terminal, `Remove the ${who}? This revokes their token.`, options)
    await admin.removeAdministrator(id)
    done(options, terminal, `Removed the ${who}.`)
  },

  revokeSession: async (id: string, options: GlobalOptions, terminal: Terminal) => {
    await (await adminClient(options, terminal)).endSession(id)
    done(options, terminal, `Revoked session ${id}.`)
  },

  revokeSessions: async (options: GlobalOptions & { yes?: boolean }, terminal: Terminal) => {
    const admin = await adminClient(options, terminal)
    await confirm(terminal, 'Revoke all sessions? Everyone who signed in has to sign in again.', options)
    await admin.endSessions()
    done(options, terminal, 'Revoked all sessions.')
  },

  audit: async (options: GlobalOptions & { project?: string; limit: number } & AuditOptions, terminal: Terminal) => {
    const admin: AdminClient = await adminClient(options, terminal)
    const { project, action = 'all', actor, keyName, env, key, since, before, limit } = options
    const filters = { actor, keyName, env, key, since, before, limit: String(limit) }
    const rows = await admin.audit({ projectId: project, action, ...filters })
    print(options.json === true ? rows : rows.map(auditRow), COLUMNS.audit, options, terminal)
  },

  /** Checks the newest entries. The service's own command `audit verify` checks the whole log. */
  verify: async (options: GlobalOptions, terminal: Terminal) => {
    const verdict = await (await adminClient(options, terminal)).verification()
    if (verdict['intact'] !== true) {
      if (options.json === true) terminal.stdout.write(jsonLine(verdict))
      const entry = verdict['id'] === undefined ? '' : `, entry ${cell(verdict['id'])}`
      throw new CommandError(`the audit log does not match its seals: ${cell(verdict['problem'])}${entry}`)
    }
    const text = `The newest ${cell(verdict['rows'])} entries match their seals, up to seal ${cell(verdict['sealNo'])}.`
    done(options, terminal, text, verdict)
  },
}
