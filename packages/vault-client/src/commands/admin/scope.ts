import { VaultError } from '../../client/errors.ts'
import type { GlobalOptions } from '../settings.ts'
import type { Row } from './client.ts'

/** The permissions of a key. `envs` is null for all environments. */
export type Scope = { readonly access: string; readonly envs: readonly string[] | null }
export type ScopeOptions = {
  readonly access?: string
  readonly envs?: readonly string[]
  readonly allEnvs?: boolean
}

/** Parses a scope from a response of the vault. */
export function readScope(value: unknown): Scope {
  const { access, envs } = (value ?? {}) as Record<string, unknown>
  const isScope = typeof access === 'string' && (envs === null || Array.isArray(envs))
  if (!isScope)
    throw new VaultError('invalid_answer', 'the response of the vault does not contain the scope of the key')
  return { access, envs }
}

/** Whether an option changes a scope. */
export function changesScope({ access, envs, allEnvs }: ScopeOptions): boolean {
  return access !== undefined || envs !== undefined || allEnvs === true
}

/** The scope of a replacement key: from the options, then from the replaced key. Undefined if that is incomplete. */
export function keptScope(options: ScopeOptions, replaced: Scope | undefined): Scope | undefined {
  const access = options.access ?? replaced?.access
  const envs = options.allEnvs === true ? null : (options.envs ?? replaced?.envs)
  return access === undefined || envs === undefined ? undefined : { access, envs }
}

const ACCESS: Readonly<Record<string, string>> = { 'read-write': 'read and write', read: 'read', write: 'write' }

/** Describes permissions, such as "read in all environments". */
export function permissionsText({ access, envs }: Scope): string {
  const where =
    envs === null ? 'all environments' : `the ${envs.length === 1 ? 'environment' : 'environments'} ${envs.join(', ')}`
  return `${ACCESS[access] ?? access} in ${where}`
}

/** Describes the permissions of a new key. */
export function grantText(scope: Scope): string {
  return `the new key may ${permissionsText(scope)}`
}

/** Rows for a table, in which a scope is text. JSON keeps it as it is. */
export function withScopeText(rows: readonly Row[], { json }: GlobalOptions): readonly Row[] {
  return json === true ? rows : rows.map((row) => ({ ...row, scope: permissionsText(readScope(row['scope'])) }))
}
