import { cell, done, print, scopeOf } from '../commands/admin/admin.ts'
import { adminClient } from '../commands/admin/client.ts'
import { permissionsText, type ScopeOptions, withScopeText } from '../commands/admin/scope.ts'
import { adminUrl, type GlobalOptions } from '../commands/settings.ts'
import { CommandError, printable, type Terminal, tell } from '../commands/terminal.ts'

export type TrustOptions = GlobalOptions &
  ScopeOptions & {
    readonly issuer: string
    readonly audience?: string
    /** Names and patterns. */
    readonly claim: Readonly<Record<string, string>>
    readonly algorithms?: readonly string[]
    readonly minutes?: number
  }

const COLUMNS = ['name', 'issuer', 'audience', 'claims', 'scope', 'minutes', 'id']

/** The actions of `vault admin trust`. */
export const trustCommands = {
  list: async (project: string, options: GlobalOptions, terminal: Terminal) => {
    const rules = await (await adminClient(options, terminal)).trustRules(project)
    print(withScopeText(rules, options), COLUMNS, options, terminal)
  },

  /** The default audience is the one that the client requests by default: the URL of the vault. */
  add: async (project: string, name: string, options: TrustOptions, terminal: Terminal) => {
    const { issuer, claim: claims, algorithms, minutes, access = 'read', envs = null } = options
    const audience = options.audience ?? new URL(await adminUrl(options, terminal)).origin
    const admin = await adminClient(options, terminal)
    const added = await admin.addTrustRule(project, {
      ...{ name, issuer, audience, claims },
      ...scopeOf({ access, ...(envs !== null && { envs }) }),
      ...(algorithms !== undefined && { algorithms }),
      ...(minutes !== undefined && { minutes }),
    })
    tell(terminal, `keys for tokens with the audience ${audience} may ${permissionsText({ access, envs })}`)
    done(options, terminal, `Added the trust rule ${name} to ${project}.`, added)
  },

  remove: async (project: string, rule: string, options: GlobalOptions, terminal: Terminal) => {
    const admin = await adminClient(options, terminal)
    const found = (await admin.trustRules(project)).find(({ id, name }) => id === rule || name === rule)
    if (found === undefined) throw new CommandError(`${printable(project)} has no trust rule ${printable(rule)}`)
    await admin.removeTrustRule(project, cell(found['id']))
    done(options, terminal, `Removed the trust rule ${cell(found['name'])} of ${project}, and its keys.`)
  },
}
