import { type AdminClient, adminClient, type Row } from './admin-client.ts'
import { writeNew } from './files.ts'
import { grantText, keptScope, readScope, type ScopeOptions } from './scope.ts'
import type { GlobalOptions } from './settings.ts'
import { CommandError, confirm, printable, type Terminal, table, tell, UsageError } from './terminal.ts'

/** Prints rows: as a table of the given columns, or as JSON with all that the vault tells. */
function print(rows: readonly Row[], columns: readonly string[], options: GlobalOptions, terminal: Terminal): void {
  if (options.json === true) {
    terminal.stdout.write(`${JSON.stringify(rows)}\n`)
    return
  }
  terminal.stdout.write(
    table(
      columns.map((column) => column.toUpperCase()),
      rows.map((row) => columns.map((column) => cell(row[column]))),
    ),
  )
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function done(options: GlobalOptions, terminal: Terminal, text: string, json: object = { ok: true }): void {
  terminal.stdout.write(options.json === true ? `${JSON.stringify(json)}\n` : `${text}\n`)
}

/** The scope of a new key, where one was asked for. */
function scopeOf({ access, envs }: ScopeOptions): object {
  if (access === undefined && envs === undefined) return {}
  return { scope: { ...(access !== undefined && { access }), ...(envs !== undefined && { envs }) } }
}

/** Until when a replaced key is valid, by the clock of this machine. The overlap is in seconds. */
function endText(overlap: number): string {
  if (overlap === 0) return 'the replaced key is no longer valid'
  return `the replaced key is valid until ${new Date(Date.now() + overlap * 1000).toISOString()}`
}

/** An entry of the audit log with the key of the secret that it is about. */
function withKey(entry: Row): Row {
  const detail = entry['detail'] as Row | null | undefined
  return { ...entry, key: detail?.['key'] }
}

type Listing = 'projects' | 'administrators'
const COLUMNS = {
  projects: ['id', 'publicKey', 'createdAt'],
  keys: ['fingerprint', 'since', 'until', 'lastUsedAt', 'scope'],
  secrets: ['id', 'key', 'env', 'updatedAt'],
  versions: ['version', 'createdAt', 'current'],
  administrators: ['id', 'name', 'role', 'projects', 'expiresAt'],
  audit: ['requestedAt', 'projectId', 'action', 'env', 'ip', 'id'],
  auditOfAction: ['requestedAt', 'projectId', 'action', 'env', 'key', 'actor', 'ip', 'id'],
} as const

/** What administrators do. Each asks for the token first, unless VAULT_ADMIN_TOKEN holds it. */
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
    done(options, terminal, `project ${printable(name)} is registered`, { ok: true, id: name })
  },

  removeProject: async (id: string, options: GlobalOptions & { yes?: boolean }, terminal: Terminal) => {
    const admin = await adminClient(options, terminal)
    const { length } = await admin.secrets(id)
    const secrets = `${String(length)} ${length === 1 ? 'secret' : 'secrets'}`
    const question = `delete the project ${printable(id)} and its ${secrets} for good?`
    if (options.yes !== true && !(await confirm(terminal, question, 'use --yes')))
      throw new CommandError('nothing was deleted')
    await admin.removeProject(id)
    done(options, terminal, `project ${printable(id)} and ${secrets} are deleted`)
  },

  /**
   * The private key goes to standard output, as `vault keygen` writes it, or to a new file. What no option says of the scope is that
   * of the newest valid key: the vault itself gives a new key everything.
   */
  rotate: async (
    id: string,
    options: GlobalOptions & ScopeOptions & { publicKey?: string; overlap: number; output?: string },
    terminal: Terminal,
  ) => {
    const { publicKey, overlap, output } = options
    if (publicKey !== undefined && output !== undefined)
      throw new UsageError('--public-key and --output exclude each other: the private key is where it was made')
    if (options.envs !== undefined && options.allEnvs === true)
      throw new UsageError('--envs and --all-envs exclude each other')
    const admin = await adminClient(options, terminal)
    // The newest first.
    const [newest] = await admin.keys(id)
    const scope = keptScope(options, newest === undefined ? undefined : readScope(newest['scope']))
    if (scope === undefined)
      throw new UsageError(
        `${printable(id)} has no valid key whose scope the new one could keep; give --access and --envs, or --all-envs`,
      )
    const rotate = async (): Promise<string | undefined> => {
      const { privateKey } = await admin.rotate(id, { ...(publicKey !== undefined && { publicKey }), overlap, scope })
      tell(terminal, `${grantText(scope)}${newest === undefined ? '' : `; ${endText(overlap)}`}`)
      return typeof privateKey === 'string' ? privateKey : undefined
    }
    const replaced = `the key of ${printable(id)} is replaced`
    if (output !== undefined) {
      await writeNew(output, async () => `${(await rotate()) ?? ''}\n`)
      done(options, terminal, replaced, { ok: true, file: output })
      return
    }
    const privateKey = await rotate()
    if (privateKey !== undefined && options.json !== true) terminal.stdout.write(`${privateKey}\n`)
    else done(options, terminal, replaced, { ok: true, ...(privateKey !== undefined && { privateKey }) })
  },

  keys: async (id: string, options: GlobalOptions, terminal: Terminal) =>
    print(await (await adminClient(options, terminal)).keys(id), COLUMNS.keys, options, terminal),

  revokeKey: async (id: string, fingerprint: string, options: GlobalOptions, terminal: Terminal) => {
    await (await adminClient(options, terminal)).revokeKey(id, fingerprint)
    done(options, terminal, `the key ${printable(fingerprint)} of ${printable(id)} is revoked`)
  },

  secrets: async (id: string, options: GlobalOptions & { env?: string }, terminal: Terminal) =>
    print(await (await adminClient(options, terminal)).secrets(id, options.env), COLUMNS.secrets, options, terminal),

  versions: async (id: string, options: GlobalOptions, terminal: Terminal) =>
    print(await (await adminClient(options, terminal)).versions(id), COLUMNS.versions, options, terminal),

  restore: async (id: string, version: string, options: GlobalOptions, terminal: Terminal) => {
    await (await adminClient(options, terminal)).restore(id, version)
    done(options, terminal, `version ${printable(version)} of ${printable(id)} is restored`)
  },

  /** The token is answered once. */
  addAdministrator: async (
    name: string,
    options: GlobalOptions & { role: string; projects?: readonly string[]; expires?: number },
    terminal: Terminal,
  ) => {
    const { role, projects, expires } = options
    const admin = await adminClient(options, terminal)
    for (const { id } of (await admin.administrators()).filter((each) => each['name'] === name))
      tell(terminal, `there is an administrator of the name ${name} already: ${cell(id)}`)
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
    tell(terminal, `${name} is added with the id ${cell(added['id'])} and the role ${role}${bounds.join('')}`)
    done(options, terminal, cell(added['token']), added)
  },

  removeAdministrator: async (id: string, options: GlobalOptions & { yes?: boolean }, terminal: Terminal) => {
    const admin = await adminClient(options, terminal)
    if (options.yes !== true) {
      const listed = (await admin.administrators()).find((each) => each['id'] === id)
      if (listed === undefined) throw new CommandError(`there is no administrator ${printable(id)}`)
      const question = `end the token of the ${cell(listed['role'])} ${printable(cell(listed['name']))}?`
      if (!(await confirm(terminal, question, 'use --yes'))) throw new CommandError('nobody was removed')
    }
    await admin.removeAdministrator(id)
    done(options, terminal, `the administrator ${printable(id)} is removed`)
  },

  /** Only listings of one action name who acted, and what the entry is about. */
  audit: async (
    options: GlobalOptions & { project?: string; action?: string; limit: number; before?: string },
    terminal: Terminal,
  ) => {
    const admin: AdminClient = await adminClient(options, terminal)
    const { project, action, before, limit } = options
    const rows = await admin.audit({ projectId: project, action, before, limit: String(limit) })
    if (options.json === true || action === undefined) print(rows, COLUMNS.audit, options, terminal)
    else print(rows.map(withKey), COLUMNS.auditOfAction, options, terminal)
  },

  /** The vault checks its newest entries; the whole log is checked beside it, by `audit verify`. */
  verify: async (options: GlobalOptions, terminal: Terminal) => {
    const verdict = await (await adminClient(options, terminal)).verification()
    if (verdict['intact'] !== true) {
      if (options.json === true) terminal.stdout.write(`${JSON.stringify(verdict)}\n`)
      const entry = verdict['id'] === undefined ? '' : `, entry ${cell(verdict['id'])}`
      throw new CommandError(`the audit log is not what was sealed: ${cell(verdict['problem'])}${entry}`)
    }
    const text = `the newest ${cell(verdict['rows'])} entries are as they were sealed, up to seal ${cell(verdict['sealNo'])}`
    done(options, terminal, text, verdict)
  },
}
