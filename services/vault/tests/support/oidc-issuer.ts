import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type CertificateFiles, SOURCE_ARGUMENTS } from '@vault-and-tracker/dev-env'

/** What the issuer does with requests for discovery and keys. */
export type IssuerMode =
  | 'answers'
  | 'answers late'
  | 'fails'
  | 'hangs'
  | 'drips'
  | 'redirects'
  | 'is oversized'
  | 'is another issuer'
  | 'names insecure keys'
  | 'is not JSON'
  | 'has no keys'
  | 'has keys at a query'

/** An OIDC issuer as its own process. */
export type OidcIssuer = {
  readonly url: string
  /** Signs an ID token for `https://vault.example.org`, valid for five minutes. A claim that is null is left out. */
  sign(claims?: object, options?: { kid?: string; header?: object }): Promise<string>
  /** Replaces the key, or adds one. */
  rotate(kid: string, options?: { algorithm?: string; keep?: boolean }): Promise<void>
  /** Publishes further keys. */
  publish(keys: readonly object[]): Promise<void>
  /** Sets the ID token that the token endpoint returns for any code. */
  setIdToken(idToken: string): Promise<void>
  publicKey(): Promise<Record<string, string>>
  setMode(mode: IssuerMode): Promise<void>
  /** The paths of the requests since the last call. */
  requests(): Promise<readonly string[]>
  stop(): Promise<void>
}

/** Starts an issuer, over TLS if it has a certificate. */
export async function startOidcIssuer(tls?: CertificateFiles): Promise<OidcIssuer> {
  const main = new URL('./oidc-issuer-main.ts', import.meta.url).pathname
  const files = tls === undefined ? [] : [tls.certificate, tls.key]
  const child = spawn(process.execPath, [...SOURCE_ARGUMENTS, main, ...files], {
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number]
  const [url = '', controlUrl = ''] = String(line).trim().split(' ')
  const control = async <Result>(name: string, given: object = {}): Promise<Result> => {
    const response = await fetch(`${controlUrl}/control/${name}`, { method: 'POST', body: JSON.stringify(given) })
    return (await response.json()) as Result
  }
  return {
    url,
    sign: (claims = {}, options = {}) => control('sign', { claims, ...options }),
    rotate: async (kid, { algorithm = 'RS256', keep = false } = {}) => {
      await control('rotate', { kid, algorithm, keep })
    },
    publish: async (keys) => {
      await control('publish', { keys })
    },
    setIdToken: async (idToken) => {
      await control('idToken', { idToken })
    },
    publicKey: () => control('publicKey'),
    setMode: async (mode) => {
      await control('mode', { mode })
    },
    requests: () => control('requests'),
    stop: async () => {
      child.stdin.end()
      await ended
    },
  }
}
