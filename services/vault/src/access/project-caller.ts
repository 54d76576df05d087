import type { Wanted } from '../limits/wanted.ts'

/** Whether a key may read values, write them, or both. */
export const ACCESS = ['read-write', 'read', 'write'] as const
export type Access = (typeof ACCESS)[number]

/** The permissions of a key; `envs` null means all environments. */
export type Scope = { readonly access: Access; readonly envs: readonly string[] | null }

/** The scope of a key that was created without one. */
export const FULL_SCOPE: Scope = { access: 'read-write', envs: null }

/** Whether a scope allows reading or writing, in `env` if it is given. */
export function allows({ access, envs }: Scope, wanted: 'read' | 'write', env?: string): boolean {
  return (access === 'read-write' || access === wanted) && (env === undefined || envs === null || envs.includes(env))
}

/** The row of a key that was admitted for an ID token, with the code that was verified. */
export type ExchangedRef = { readonly id: string; readonly code: Buffer }

/**
 * A project whose signature was verified with cached data. The statement that does the work checks again that the key
 * is valid and of this generation.
 */
export type ProjectCaller = {
  readonly kind: 'project'
  readonly projectUid: string
  /** The project's name. */
  readonly project: string
  readonly publicKey: Buffer
  /** The row of a key that was admitted for an ID token; undefined for a key of the project itself. */
  readonly exchanged?: ExchangedRef | undefined
  /** The generation of the project that the key belongs to. */
  readonly generation: number
  readonly scope: Scope
  /** Whether the signature covers the body. */
  readonly coversContent: boolean
  /** Whether the project may require that the signature covers the body. */
  readonly isWrite: boolean
  /** Identifies the key in the audit log. */
  readonly actor: string
  readonly address: string
  readonly wanted?: Wanted | undefined
}

/** Who exchanges an ID token for a key. Nothing is proven before the token is verified. */
export type Exchanger = {
  readonly kind: 'exchanger'
  readonly address: string
  /** The address that requests of one subscriber are counted under. */
  readonly client: string
  readonly wanted: Wanted | undefined
}
