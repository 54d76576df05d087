import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { CountLimit } from '../announce/limits.ts'
import type { ApiTokens } from '../tokens/api-tokens.ts'
import { hashOfToken } from '../tokens/token-text.ts'
import type { IrcUser, SignInProblem } from './irc-session.ts'

/**
 * Signs in clients with a username and an API token with the scope `read`.
 *
 * @param deps `limitKeyOf` an address; undefined for the address of a proxy
 */
export function createIrcSignIn(deps: {
  tokens: Pick<ApiTokens, 'find' | 'isValid'>
  limit: CountLimit
  limitKeyOf: (address: string) => string | undefined
  /** Lets a client that joins afterwards miss no event. */
  prepare: () => Promise<unknown>
}) {
  const { tokens, limit } = deps
  return async (username: string, token: string, address: string): Promise<IrcUser | SignInProblem> => {
    try {
      const key = deps.limitKeyOf(address)
      if (key !== undefined && (await limit.take(key)) > 0) return 'limited'
      const request = { scope: 'read', address } as const
      const { holder, refusal } = await tokens.find(token, request)
      if (refusal !== undefined || holder.account.username.toLowerCase() !== username.toLowerCase()) return 'refused'
      await deps.prepare()
      const hash = hashOfToken(token).toString('hex')
      return { userId: holder.account.id, isValid: () => tokens.isValid(hash, request) }
    } catch (error) {
      if (isUnavailable(error)) return 'unavailable'
      throw error
    }
  }
}
