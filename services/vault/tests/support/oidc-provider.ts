import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { SOURCE_ARGUMENTS } from '@vault-and-tracker/dev-env'

const CLIENT = { client_id: 'vault', client_secret: 'client-secret-of-the-vault' }

/** A real OIDC provider as its own process. */
export type OidcProvider = {
  readonly url: string
  /** The settings of a vault that is registered at the provider. */
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/**
 * Starts a provider.
 *
 * @param origins those of the vaults that are registered
 * @param people the groups of each person, by their subject
 */
export async function startOidcProvider(
  origins: readonly string[],
  people: Readonly<Record<string, unknown>>,
): Promise<OidcProvider> {
  const main = new URL('./oidc-provider-main.ts', import.meta.url).pathname
  const client = {
    ...CLIENT,
    redirect_uris: origins.map((origin) => `${origin}/v1/sign-in/callback`),
    post_logout_redirect_uris: origins.map((origin) => `${origin}/console/`),
  }
  // It warns about what a development setup lacks.
  const child = spawn(process.execPath, [...SOURCE_ARGUMENTS, main, JSON.stringify({ client, people })], {
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = once(child, 'close')
  let printed = ''
  child.stdout.on('data', (piece: Buffer) => {
    printed += piece.toString()
  })
  let url: string | undefined
  while (url === undefined) {
    await Promise.race([once(child.stdout, 'data'), ended])
    url = /^http:\/\/\S+$/m.exec(printed)?.[0]
    if (child.exitCode !== null) throw new Error('the provider ended while starting')
  }
  return {
    url,
    env: {
      ...{ OIDC_ISSUER: url, OIDC_CLIENT_ID: CLIENT.client_id, OIDC_CLIENT_SECRET: CLIENT.client_secret },
      ...{ OIDC_SCOPES: 'openid email groups', OIDC_ALLOW_LOOPBACK: 'true' },
    },
    stop: async () => {
      child.stdin.end()
      await ended
    },
  }
}

/** What a browser received last. */
type Received = { readonly status: number; readonly location: string; readonly text: string; readonly headers: Headers }

/**
 * A client that keeps cookies and does not follow redirects. Like a browser, it has the same cookies for all ports.
 *
 * @param publicHost as a proxy forwards it, for requests to replicas
 */
export function createHttpBrowser(publicHost = '') {
  const cookies = new Map<string, string>()

  async function request(url: string, init: RequestInit = {}): Promise<Received> {
    const headers = new Headers(init.headers)
    headers.set('Cookie', [...cookies].map((pair) => pair.join('=')).join('; '))
    if (publicHost !== '') headers.set('X-Forwarded-Host', publicHost)
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    return {
      ...{ status: response.status, text: await response.text(), headers: response.headers },
      location: location === null ? '' : new URL(location, url).href,
    }
  }

  /** Follows redirects and fills in forms at the provider, until it redirects to the vault. */
  async function visitProvider(url: string, person: string): Promise<string> {
    const { origin } = new URL(url)
    let received = await request(url)
    for (let step = 0; step < 20; step++) {
      if (received.location !== '' && !received.location.startsWith(origin)) return received.location
      const [, action = ''] = /action="([^"]+)"/.exec(received.text) ?? []
      const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(received.text) ?? []
      const body = new URLSearchParams({ prompt, login: person, password: 'any' })
      received =
        received.location === ''
          ? await request(new URL(action, origin).href, { method: 'POST', body })
          : await request(received.location)
    }
    throw new Error('the provider did not redirect to the vault')
  }

  return {
    cookies,
    request,
    visitProvider,
    /** Starts a sign-in, and returns the response of the provider, which is an address of the vault. */
    startSignIn: async (vault: string, person: string, page?: string): Promise<string> => {
      const query = page === undefined ? '' : `?page=${encodeURIComponent(page)}`
      const { location } = await request(`${vault}/v1/sign-in/start${query}`)
      return visitProvider(location, person)
    },
  }
}
