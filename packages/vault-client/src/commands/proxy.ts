import { VaultError } from '../client/errors.ts'
import { codeOf } from './files.ts'
import type { Terminal } from './terminal.ts'

/**
 * A `fetch` that uses the proxy of HTTPS_PROXY or HTTP_PROXY unless NO_PROXY names the host; undefined if none is set.
 * Node itself supports these variables from version 24 on, so undici is loaded, and only if a proxy is set.
 */
export async function proxiedFetch(url: string, env: Terminal['env']): Promise<typeof fetch | undefined> {
  const variable = (name: string): string => env[name.toLowerCase()] || env[name] || ''
  const proxies = { http: variable('HTTP_PROXY'), https: variable('HTTPS_PROXY') }
  const proxy = /^https:/i.test(url) ? proxies.https : proxies.http
  if (proxy === '') return undefined
  // The message of undici would repeat the URL, which may contain a password.
  if (!URL.canParse(proxy)) throw new VaultError('invalid_configuration', 'HTTPS_PROXY or HTTP_PROXY is not a URL')
  const { EnvHttpProxyAgent, fetch: fetchThrough } = await import('undici')
  const dispatcher = new EnvHttpProxyAgent({
    ...{ httpProxy: proxies.http, httpsProxy: proxies.https, noProxy: variable('NO_PROXY') },
  })
  const sendThrough = fetchThrough as unknown as (input: unknown, init: object) => Promise<Response>
  return async (input, init) => {
    try {
      return await sendThrough(input, { ...init, dispatcher })
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      const code = codeOf(cause)
      // The caller recognizes its own timeout.
      if (init?.signal?.aborted === true) throw error
      const message = `the vault cannot be reached through the proxy ${new URL(proxy).host} (${code})`
      throw new VaultError('unreachable', message, { cause: error })
    }
  }
}
