import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

// An OIDC issuer as its own process. Its parent controls it over `/control`, and jobs request ID tokens as from GitHub
// Actions. It prints its URL when it listens, and the one for control: with a certificate, the first is over TLS.

type Pair = Awaited<ReturnType<typeof newPair>>

/** How the issuer answers discovery and keys. */
let mode = 'answers'
const requests: string[] = []
let pairs: Pair[] = [await newPair('RS256', 'first')]
/** Published in addition. */
let extraKeys: object[] = []
let issued = 0
/** What the token endpoint returns. */
let idToken = ''

async function newPair(algorithm: string, kid: string) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return { privateKey, kid, algorithm, jwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' } }
}

const now = (): number => Math.floor(Date.now() / 1000)

/** Signs an ID token. A claim that is null is left out. */
async function sign({ claims = {}, kid, header = {} }: { claims?: object; kid?: string; header?: object }) {
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

const CONTROLS: Readonly<Record<string, (given: Record<string, unknown>) => unknown>> = {
  sign: (given) => sign(given),
  mode: (given) => {
    mode = String(given['mode'])
    return mode
  },
  requests: () => requests.splice(0),
  rotate: async (given) => {
    pairs = [...(given['keep'] === true ? pairs : []), await newPair(String(given['algorithm']), String(given['kid']))]
    return null
  },
  publish: (given) => {
    extraKeys = given['keys'] as object[]
    return null
  },
  idToken: (given) => {
    idToken = String(given['idToken'])
    return null
  },
  publicKey: () => pairs.at(-1)?.jwk,
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

const keys = () => ({ keys: [...pairs.map(({ jwk }) => jwk), ...extraKeys] })
const discovery = () => ({
  ...{
    issuer: url,
    jwks_uri: `${url}/keys`,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
  },
  ...{ id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] },
})

const MODES: Readonly<Record<string, (path: string, response: ServerResponse) => void>> = {
  answers: (path, response) => json(response, path === '/keys' ? keys() : discovery()),
  'answers late': (path, response) => void setTimeout(() => MODES['answers']?.(path, response), 1_000),
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
      : json(response, path === '/keys?p=sign-in' ? keys() : { ...discovery(), jwks_uri: `${url}/keys?p=sign-in` }),
  'has no keys': (path, response) => json(response, path === '/keys' ? { keys: [] } : discovery()),
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '/'
  if (path.startsWith('/control/')) {
    const control = CONTROLS[path.slice('/control/'.length)]
    json(response, await control?.(JSON.parse(await bodyOf(request)) as Record<string, unknown>))
    return
  }
  if (path.startsWith('/token?')) {
    // As GitHub's runner: https://docs.github.com/actions/reference/security/oidc
    const isAllowed = request.headers.authorization === 'Bearer request-token'
    const audience = new URL(path, url).searchParams.get('audience')
    json(response, isAllowed ? { value: await sign({ claims: { aud: audience } }) } : {}, isAllowed ? 200 : 401)
    return
  }
  requests.push(path)
  if (path === '/token') {
    json(response, { access_token: 'access-token', token_type: 'bearer', id_token: idToken })
    return
  }
  const isKnown = /^\/(?:\.well-known\/openid-configuration|keys)(?:\?redirected|\?p=sign-in)?$/.test(path)
  if (isKnown) MODES[mode]?.(path, response)
  else json(response, {}, 404)
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`
}

const handle = (request: IncomingMessage, response: ServerResponse) => void answer(request, response)
const controlUrl = `http://${await listen(createServer(handle))}`
const [certificate, key] = process.argv.slice(2)
const url =
  certificate === undefined || key === undefined
    ? controlUrl
    : `https://${await listen(createTlsServer({ cert: readFileSync(certificate), key: readFileSync(key) }, handle))}`
process.stdout.write(`${url} ${controlUrl}\n`)
// Ends with its parent.
process.stdin.on('end', () => process.exit(0)).resume()
