import { VaultError } from '../client/errors.ts'

/** What a key may do; `envs` is null for all environments. */
export type Scope = { readonly access: string; readonly envs: readonly string[] | null }
export type ScopeOptions = {
  readonly access?: string
  readonly envs?: readonly string[]
  readonly allEnvs?: boolean
}

/** The scope of a key as the vault lists it. */
export function readScope(value: unknown): Scope {
  const { access, envs } = (value ?? {}) as Record<string, unknown>
  const isScope = typeof access === 'string' && (envs === null || Array.isArray(envs))
  if (!isScope)
    throw new VaultError('invalid_answer', 'the response of the vault does not contain the scope of the key')
  return { access, envs }
}

/** The scope of a key that replaces another: what the options say, and else that of the replaced one. Undefined where neither says all. */
export function keptScope(options: ScopeOptions, replaced: Scope | undefined): Scope | undefined {
  const access = options.access ?? replaced?.access
  const envs = options.allEnvs === true ? null : (options.envs ?? replaced?.envs)
  return access === undefined || envs === undefined ? undefined : { access, envs }
}

const ACCESS: Readonly<Record<string, string>> = { 'read-write': 'read and write', read: 'read', write: 'write' }

/** What a new key may do, in words. */
export function grantText({ access, envs }: Scope): string {
  const where =
    envs === null ? 'all environments' : `the ${envs.length === 1 ? 'environment' : 'environments'} ${envs.join(', ')}`
  return `the new key may ${ACCESS[access] ?? access} in ${where}`
}
