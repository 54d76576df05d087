import { setTimeout as sleep } from 'node:timers/promises'
import { isError, UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import { z } from 'zod'
import { readResponse } from '../limits/read-response.ts'
import { DecryptionError } from './envelope.ts'
import type { TransitClient } from './transit-keys.ts'

/** How to reach the transit service. */
export type TransitSettings = {
  /** For example `https://openbao.internal:8200`. */
  readonly url: string
  /** The path of the transit engine. */
  readonly mount: string
  /** The name of the key. */
  readonly key: string
  readonly namespace: string | undefined
  /** Called for each request, because an agent may renew the token's file. @throws Error if it cannot be read */
  readonly readToken: () => string
}

/** Writes of the same project wait for a transaction that waits for this. */
const TOTAL_MS = 3_000
const ATTEMPT_MS = 1_400
const FIRST_WAIT_MS = 50
/** Sealed, restarting, a standby without a leader, or rate limited. Every request can be repeated. */
const RETRIED_STATUSES: readonly number[] = [412, 429, 472, 473, 500, 502, 503, 504]
/** Far more than 500 data keys in base64. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

const keyAnswer = z.object({
  data: z.object({ type: z.string(), derived: z.boolean().default(false), keys: z.record(z.string(), z.number()) }),
})
const encrypted = z.object({ ciphertext: z.string().regex(/^vault:v[1-9]\d{0,8}:[A-Za-z0-9+/=]+$/) })
const decrypted = z.object({ plaintext: z.base64() })
const results = <Item extends z.ZodType>(item: Item) => z.object({ data: z.object({ batch_results: z.array(item) }) })
const ENCRYPTED = results(encrypted)
const DECRYPTED = results(decrypted)

/** An error response. Its message is for the log and contains no plaintext. */
class TransitError extends Error {
  override readonly name = 'TransitError'
  readonly status: number

  constructor(status: number, message: string) {
    super(`the transit service returned ${String(status)}: ${message}`)
    this.status = status
  }
}

/** Creates a client for the published HTTP API of HashiCorp Vault and OpenBao. */
export function createTransitClient(settings: TransitSettings): TransitClient {
  const { url, mount, key, namespace, readToken } = settings

  async function attempt(method: 'GET' | 'POST', path: string, body: object | undefined, deadline: AbortSignal) {
    const response = await fetch(`${url}/v1/${mount}/${path}/${key}`, {
      method,
      headers: {
        'X-Vault-Token': readToken(),
        'X-Vault-Request': 'true',
        ...(namespace !== undefined && { 'X-Vault-Namespace': namespace }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The token is never sent to another host.
      redirect: 'error',
      signal: AbortSignal.any([deadline, AbortSignal.timeout(ATTEMPT_MS)]),
    })
    const text = await readResponse(response, MAX_ANSWER_BYTES)
    if (!response.ok) throw new TransitError(response.status, messageOf(text))
    return text
  }

  /** Retries for three seconds at most. */
  async function sendWithRetries(method: 'GET' | 'POST', path: string, body?: object): Promise<string> {
    const deadline = AbortSignal.timeout(TOTAL_MS)
    for (let wait = FIRST_WAIT_MS; ; wait *= 2) {
      try {
        return await attempt(method, path, body, deadline)
      } catch (error) {
        if (error instanceof TransitError && !RETRIED_STATUSES.includes(error.status)) throw error
        if (deadline.aborted) throw error
        await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal: deadline }).catch(() => {
          throw error
        })
      }
    }
  }

  /** @throws UnavailableError with the reason as its cause */
  async function request<Answer extends z.ZodType>(
    schema: Answer,
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<z.output<Answer>> {
    try {
      const text = await sendWithRetries(method, path, body)
      return schema.parse(JSON.parse(text), { reportInput: false })
    } catch (error) {
      // Only the ciphertext can cause a 400 here.
      if (error instanceof TransitError && error.status === 400 && path !== 'encrypt')
        throw new DecryptionError('the transit service does not decrypt the data key', { cause: error })
      throw new UnavailableError('key service', { cause: withoutInput(error) })
    }
  }

  const batch = (items: readonly object[]) => ({ batch_input: items })

  return {
    readKey: async () => {
      const { data } = await request(keyAnswer, 'GET', 'keys')
      const versions = Object.entries(data.keys).map(([version, made]) => [Number(version), made] as const)
      return { type: data.type, derived: data.derived, versions: new Map(versions) }
    },

    encrypt: async (plaintexts, version) => {
      const items = plaintexts.map((each) => ({ plaintext: each.toString('base64'), key_version: version }))
      const { data } = await request(ENCRYPTED, 'POST', 'encrypt', batch(items))
      return data.batch_results.map(({ ciphertext }) => ciphertext)
    },

    decrypt: async (ciphertexts) => {
      const items = ciphertexts.map((ciphertext) => ({ ciphertext }))
      const { data } = await request(DECRYPTED, 'POST', 'decrypt', batch(items))
      return data.batch_results.map(({ plaintext }) => Buffer.from(plaintext, 'base64'))
    },

    rewrap: async (ciphertexts, version) => {
      const items = ciphertexts.map((ciphertext) => ({ ciphertext, key_version: version }))
      const { data } = await request(ENCRYPTED, 'POST', 'rewrap', batch(items))
      return data.batch_results.map(({ ciphertext }) => ciphertext)
    },
  }
}

const errorAnswer = z.object({
  errors: z.array(z.string()).optional(),
  data: z.object({ batch_results: z.array(z.object({ error: z.string().optional() })) }).optional(),
})

/** The error of the request, or of the first failed item of a batch. */
function messageOf(text: string): string {
  try {
    const { errors = [], data } = errorAnswer.parse(JSON.parse(text))
    const ofItem = data?.batch_results.find(({ error }) => error !== undefined && error !== '')?.error
    return (errors[0] ?? ofItem ?? 'no reason given').slice(0, 300)
  } catch {
    return 'no reason given'
  }
}

/** A malformed response may contain a data key, so its error has no details. */
function withoutInput(error: unknown): unknown {
  if (error instanceof z.ZodError || error instanceof SyntaxError)
    return new Error('the transit service returned an unexpected response')
  return isError(error) ? error : new Error('unknown error')
}
