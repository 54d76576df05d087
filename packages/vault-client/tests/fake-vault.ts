import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  checkContent,
  checkWindow,
  createVerifyKey,
  parsePublicKey,
  parseSignedRequest,
  SignatureError,
  verifySignature,
} from '@vault-and-tracker/http-signatures'

export type ForcedAnswer = { status: number; body?: string; headers?: Record<string, string> } | 'dropped' | 'lost'

/** How long the server waits for a change. */
const WAIT_MS = 500

/** A server that verifies signatures as the vault does and stores secrets in memory. */
export async function startFakeVault(publicKeyHex: string): Promise<{
  url: string
  secrets: Map<string, string>
  seen: { method: string; target: string; covered: boolean; nonce: string }[]
  /** Sets the response to all further requests. */
  answerWith: (status: number, body: string) => void
  /** Sets the responses to the next requests. A `lost` request is processed, but its connection is closed. */
  answerNext: (...answers: ForcedAnswer[]) => void
  /** Whether the vault cannot report changes. */
  isOld: boolean
  /** How far the vault's clock, and its Date header, are ahead of this machine's. */
  clockMs: number
  [Symbol.asyncDispose]: () => Promise<void>
}> {
  const key = createVerifyKey(parsePublicKey(publicKeyHex))
  const secrets = new Map<string, string>()
  const seen: { method: string; target: string; covered: boolean; nonce: string }[] = []
  const next: ForcedAnswer[] = []
  const state = { clockMs: 0, isOld: false }
  const versionOf = (): string =>
    createHash('sha256')
      .update(JSON.stringify([...secrets]))
      .digest('hex')
  let forced: { status: number; body: string } | undefined
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const forcedNow = next.shift()
      const reply = (status: number, body: unknown): void => {
        if (forcedNow === 'lost') {
          request.socket.destroy()
          return
        }
        response.setHeader('date', new Date(Date.now() + state.clockMs).toUTCString())
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      if (forcedNow === 'dropped') {
        request.socket.destroy()
        return
      }
      if (forcedNow !== undefined && forcedNow !== 'lost') {
        response.writeHead(forcedNow.status, forcedNow.headers).end(forcedNow.body ?? '{}')
        return
      }
      if (forced) {
        response.writeHead(forced.status).end(forced.body)
        return
      }
      const body = Buffer.concat(chunks)
      const method = request.method ?? ''
      const target = request.url ?? ''
      try {
        const parsed = parseSignedRequest({ scheme: 'http', method, target, rawHeaders: request.rawHeaders })
        checkContent(checkWindow(verifySignature(parsed, [key]), Date.now() + state.clockMs), body)
      } catch (error) {
        reply(401, { error: error instanceof SignatureError ? error.code : 'internal_error' })
        return
      }
      const nonce = /nonce="([0-9a-f]+)"/.exec(String(request.headers['signature-input']))?.[1] ?? ''
      seen.push({ method, target, covered: request.headers['content-digest'] !== undefined, nonce })
      if (method === 'PUT') {
        const { key: name, value } = JSON.parse(body.toString()) as { key: string; value: string }
        secrets.set(name, value)
        reply(200, { ok: true })
      } else if (method === 'DELETE') {
        const url = new URL(target, 'http://vault')
        const known = secrets.delete(
          url.searchParams.get('key') ?? decodeURIComponent(url.pathname.split('/').at(-1) ?? ''),
        )
        reply(known ? 200 : 404, known ? { ok: true } : { error: 'not_found' })
      } else if (target.startsWith('/v1/secrets/changes')) {
        if (state.isOld) {
          reply(405, { error: 'method_not_allowed' })
          return
        }
        const since = new URL(target, 'http://vault').searchParams.get('since')
        const until = performance.now() + WAIT_MS
        const answer = (): void => {
          const version = versionOf()
          const isOver = performance.now() >= until
          if (version === since && !isOver && !request.socket.destroyed) setTimeout(answer, 5)
          else if (version === since) reply(200, { version, changed: [] })
          else reply(200, { version, changed: [...secrets.keys()], values: Object.fromEntries(secrets) })
        }
        answer()
      } else reply(200, Object.fromEntries(secrets))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    secrets,
    seen,
    answerNext: (...answers) => {
      next.push(...answers)
    },
    get clockMs() {
      return state.clockMs
    },
    set clockMs(ms) {
      state.clockMs = ms
    },
    get isOld() {
      return state.isOld
    },
    set isOld(isOld) {
      state.isOld = isOld
    },
    answerWith: (status, body) => {
      forced = { status, body }
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
