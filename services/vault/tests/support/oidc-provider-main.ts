import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

// A real OIDC provider as its own process. Its parent passes the client and the groups of each person as JSON. It prints its
// URL when it listens. People sign in with any password.

type Given = { client: object; people: Record<string, unknown> }

const { client, people } = JSON.parse(process.argv[2] ?? '') as Given
const { privateKey } = await generateKeyPair('RS256', { extractable: true })
const server = createServer()
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
const provider = new Provider(url, {
  clients: [client],
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'first' }] },
  cookies: { keys: [randomBytes(32).toString('hex')] },
  claims: { openid: ['sub'], email: ['email'], groups: ['groups'] },
  findAccount: (_context: unknown, id: string) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.org`, groups: people[id] }),
  }),
})
server.on('request', provider.callback())
process.stdout.write(`${url}\n`)
// Ends with its parent.
process.stdin.on('end', () => process.exit(0)).resume()
