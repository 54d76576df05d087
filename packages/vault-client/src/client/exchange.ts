import type { GeneratedKeyPair } from '@vault-and-tracker/http-signatures/sign'
import { VaultError } from './errors.ts'
import { createTransport, type TransportOptions } from './transport.ts'

export type ExchangeOptions = TransportOptions & {
  /** The ID token of the platform, or a function that obtains one. The vault accepts a token for one key. */
  readonly idToken: string | (() => string | Promise<string>)
  /** The project, which is required if trust rules of several projects accept the token. */
  readonly project?: string | undefined
  /** The trust rule, which is required if several rules of the project accept the token. */
  readonly rule?: string | undefined
}

/** A key pair that the vault accepts for some minutes. */
export type ExchangedKey = {
  readonly project: string
  /** A JWK JSON string for `createVaultClient`. */
  readonly privateKey: string
  /** 64 lower-case hex digits. */
  readonly publicKey: string
  readonly expiresAt: Date
  readonly scope: { readonly access: string; readonly envs: readonly string[] | null }
}

/** Creates `exchangeKey` for a generator of key pairs. */
export function exchangeWith(
  generateKeyPair: () => GeneratedKeyPair,
): (options: ExchangeOptions) => Promise<ExchangedKey> {
  return async (options) => {
    const { idToken, project, rule } = options
    const { privateJwk: privateKey, publicKeyHex: publicKey } = generateKeyPair()
    const token = typeof idToken === 'function' ? await idToken() : idToken
    // The vault answers a repeated request, with the same token and key, like the first one.
    const answer = await createTransport(options).send({
      ...{ method: 'POST', path: '/v1/keys/exchange' },
      body: JSON.stringify({ idToken: token, publicKey, project, rule }),
      authenticate: () => ({}),
    })
    return { ...readAnswer(answer), privateKey, publicKey }
  }
}

function readAnswer(answer: unknown): Pick<ExchangedKey, 'project' | 'expiresAt' | 'scope'> {
  const { project, expiresAt, scope } = (answer ?? {}) as Record<string, unknown>
  const { access, envs } = (scope ?? {}) as Record<string, unknown>
  const end = new Date(String(expiresAt))
  const isScope = typeof access === 'string' && (envs === null || Array.isArray(envs))
  if (typeof project !== 'string' || Number.isNaN(end.getTime()) || !isScope)
    throw new VaultError('invalid_answer', 'the response of the vault does not describe the exchanged key')
  return { project, expiresAt: end, scope: { access, envs } }
}
