import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { CertificateFiles } from '@vault-and-tracker/dev-env'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

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

/** An OIDC issuer. Jobs request ID tokens from it as from GitHub Actions. */
export type OidcIssuer = {
  readonly url: string
  /** Signs an ID token for `https://vault.example.org`, valid for five minutes. A claim that is null is left out. */
  sign(claims?: object, options?: { kid?: string; header?: object }): Promise<string>
  /** Replaces the key, or adds one. */
  rotate(kid: string, options?: { algorithm?: string; keep?: boolean }): Promise<void>
  /** Publishes further keys. */
  publish(keys: readonly object[]): void
  /** Sets the ID token that the token endpoint returns for any code. */
  setIdToken(idToken: string): void
  publicKey(): JWK
  setMode(mode: IssuerMode): void
  /** The paths of the requests since the last call. */
  requests(): readonly string[]
  stop(): Promise<void>
}

type Pair = Awaited<ReturnType<typeof newPair>>
type Answers = Readonly<Record<IssuerMode, (path: string, response: ServerResponse) => void>>

async function newPair(algorithm: string, kid: string) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return { privateKey, kid, algorithm, jwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' } }
}

const now = (): number => Math.floor(Date.now() / 1000)

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

/** How an issuer answers discovery and keys. */
function answersOf(urlOf: () => string, keys: () => { keys: object[] }): Answers {
  const discovery = () => ({
    ...{ issuer: urlOf(), jwks_uri: `${urlOf()}/keys` },
    ...{ authorization_endpoint: `${urlOf()}/authorize`, token_endpoint: `${urlOf()}/token` },
    ...{ id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] },
  })
  const usual = (path: string, response: ServerResponse) => json(response, path === '/keys' ? keys() : discovery())
  return {
    answers: usual,
    'answers late': (path, response) => void setTimeout(() => usual(path, response), 1_000),
    fails: (_path, response) => json(response, { error: 'internal' }, 500),
    hangs: () => undefined,
    drips: (_path, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 100)
      response.on('close', () => clearInterval(timer))
    },
    redirects: (path, response) => {
      // The target would be accepted.
      if (path.endsWith('?redirected')) json(response, path.startsWith('/keys') ? keys() : discovery())
      else response.writeHead(302, { Location: `${path}?redirected` }).end()
    },
    'is oversized': (path, response) =>
      json(response, path === '/keys' ? { ...keys(), filler: 'x'.repeat(300_000) } : discovery()),
    'is another issuer': (_path, response) => json(response, { ...discovery(), issuer: 'https://example.org' }),
    'names insecure keys': (_path, response) => json(response, { ...discovery(), jwks_uri: 'http://example.org/keys' }),
    'is not JSON': (_path, response) => response.end('<html>'),
    'has keys at a query': (path, response) =>
      path === '/keys'
        ? json(response, {}, 404)
        : json(response, path.includes('?p=') ? keys() : { ...discovery(), jwks_uri: `${urlOf()}/keys?p=sign-in` }),
    'has no keys': (path, response) => json(response, path === '/keys' ? { keys: [] } : discovery()),
  }
}

/**
 * Starts an issuer, over TLS if it has a certificate.
 *
 * @param options `algorithm` is that of its first key. An RSA key takes much longer to make than one of a curve
 */
export async function startOidcIssuer({
  tls,
  algorithm: first = 'ES256',
}: {
  tls?: CertificateFiles
  algorithm?: string
} = {}): Promise<OidcIssuer> {
  let mode: IssuerMode = 'answers'
  let pairs: Pair[] = [await newPair(first, 'first')]
  /** Published in addition. */
  let extraKeys: readonly object[] = []
  let issued = 0
  let idToken = ''
  const requests: string[] = []
  const answers = answersOf(
    () => url,
    () => ({ keys: [...pairs.map(({ jwk }) => jwk), ...extraKeys] }),
  )

  const sign: OidcIssuer['sign'] = async (claims = {}, { kid, header = {} } = {}) => {
    const pair = pairs.find((each) => each.kid === kid) ?? pairs.at(-1)
    if (pair === undefined) throw new Error('no key')
    issued += 1
    const given: Record<string, unknown> = {
      ...{ iss: url, sub: 'repo:octo-org/shop:ref:refs/heads/main', aud: 'https://vault.example.org' },
      ...{ iat: now(), nbf: now(), exp: now() + 300, jti: `token-${String(issued)}` },
      ...claims,
    }
    const payload = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as JWTPayload
    return new SignJWT(payload)
      .setProtectedHeader({ typ: 'JWT', alg: pair.algorithm, kid: pair.kid, ...header })
      .sign(pair.privateKey)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/'
    await text(request)
    if (path.startsWith('/token?')) {
      // As GitHub's runner: https://docs.github.com/actions/reference/security/oidc
      const isAllowed = request.headers.authorization === 'Bearer request-token'
      const audience = new URL(path, url).searchParams.get('audience')
      json(response, isAllowed ? { value: await sign({ aud: audience }) } : {}, isAllowed ? 200 : 401)
      return
    }
    requests.push(path)
    if (path === '/token') {
      json(response, { access_token: 'access-token', token_type: 'bearer', id_token: idToken })
      return
    }
    const isKnown = /^\/(?:\.well-known\/openid-configuration|keys)(?:\?redirected|\?p=sign-in)?$/.test(path)
    if (isKnown) answers[mode](path, response)
    else json(response, {}, 404)
  }

  const handle = (request: IncomingMessage, response: ServerResponse) => void answer(request, response)
  const server =
    tls === undefined
      ? createServer(handle)
      : createTlsServer({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) }, handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${String(port)}`

  return {
    url,
    sign,
    rotate: async (kid, { algorithm = 'ES256', keep = false } = {}) => {
      pairs = [...(keep ? pairs : []), await newPair(algorithm, kid)]
    },
    publish: (keys) => {
      extraKeys = keys
    },
    setIdToken: (given) => {
      idToken = given
    },
    publicKey: () => pairs.at(-1)?.jwk ?? {},
    setMode: (given) => {
      mode = given
    },
    requests: () => requests.splice(0),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
