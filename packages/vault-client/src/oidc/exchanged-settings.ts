import type { ExchangedKey } from '../client/exchange.ts'
import type { TransportOptions } from '../client/transport.ts'
import { CommandError, type Terminal } from '../commands/terminal.ts'
import { exchangeKey, VaultError } from '../index.ts'
import { idTokenSource } from './id-token.ts'

/** The options of commands that exchange an ID token for a key. */
export type OidcOptions = {
  readonly oidc?: boolean
  readonly idTokenFile?: string
}

/** The fraction of its lifetime after which a key is replaced. */
const RENEWED_AT = 0.8

/** Whether the options or the file of an ID token ask for an exchange. */
export function wantsExchange({ oidc, idTokenFile }: OidcOptions): boolean {
  return oidc === true || idTokenFile !== undefined
}

/**
 * Returns a function that exchanges an ID token of the platform for a key of a project. A token in a file stays the same
 * until the platform renews it. It is not sent again once the vault has accepted or refused it, so that a program that
 * waits for another one does not reach a limit.
 */
export async function exchange(
  { idTokenFile }: OidcOptions,
  transport: TransportOptions,
  project: string | undefined,
  terminal: Terminal,
): Promise<() => Promise<ExchangedKey>> {
  const { env } = terminal
  const audience = env['VAULT_OIDC_AUDIENCE'] || new URL(transport.url).origin
  const idToken = await idTokenSource(idTokenFile, audience, terminal)
  const rule = env['VAULT_TRUST_RULE'] || undefined
  let sent: string | undefined
  return async () => {
    const token = await idToken()
    if (token === sent) throw new CommandError('the ID token was already used, and the platform has not renewed it yet')
    try {
      const key = await exchangeKey({ ...transport, idToken: token, project, rule })
      sent = token
      return key
    } catch (error) {
      if (error instanceof VaultError && error.code === 'invalid_id_token') sent = token
      throw error
    }
  }
}

/**
 * Returns the current key of a program that runs for longer than one: it is replaced before its end. If that fails, it is
 * used until its end.
 *
 * @param now in milliseconds
 */
export function renewing(first: ExchangedKey, renew: () => Promise<ExchangedKey>, now: () => number = Date.now) {
  let current = { key: first, since: now() }
  return async (): Promise<string> => {
    const end = current.key.expiresAt.getTime()
    if (now() < current.since + (end - current.since) * RENEWED_AT) return current.key.privateKey
    try {
      const since = now()
      current = { key: await renew(), since }
    } catch (error) {
      if (now() >= end) throw error
    }
    return current.key.privateKey
  }
}
