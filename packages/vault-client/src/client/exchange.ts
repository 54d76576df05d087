import type { GeneratedKeyPair } from '@vault-and-tracker/http-signatures/sign'
import { VaultError } from './errors.ts'
import { cannotBeAsked, createTransport, sleep, type TransportOptions } from './transport.ts'

export type ExchangeOptions = TransportOptions & {
  /**
   * The ID token of the platform. A function is called for each attempt, because the vault accepts a token once; without
   * one, an exchange that may have been carried out is not repeated.
   */
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

const ATTEMPTS = 3
const FIRST_WAIT_MS = 1_000

/** Creates `exchangeKey` for a generator of key pairs. */
export function exchangeWith(
  generateKeyPair: () => GeneratedKeyPair,
): (options: ExchangeOptions) => Promise<ExchangedKey> {
  return async (options) => {
    const { idToken, project, rule } = options
    const transport = createTransport(options)
    const attempt = async (): Promise<ExchangedKey> => {
      const { privateJwk: privateKey, publicKeyHex: publicKey } = generateKeyPair()
      const token = typeof idToken === 'function' ? await idToken() : idToken
      const body = JSON.stringify({ idToken: token, publicKey, project, rule })
      const answer = await transport.send({
        ...{ method: 'POST', path: '/v1/keys/exchange', body, once: true },
        authenticate: () => ({}),
      })
      return { ...readAnswer(answer), privateKey, publicKey }
    }
    for (let tried = 1; ; tried++) {
      try {
        return await attempt()
      } catch (error) {
        if (typeof idToken !== 'function' || tried === ATTEMPTS || !cannotBeAsked(error)) throw error
        await sleep(Math.max(error.retryAfterMs ?? 0, FIRST_WAIT_MS * tried))
      }
    }
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
