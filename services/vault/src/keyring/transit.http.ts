import { setTimeout as sleep } from 'node:timers/promises'
import { isError, UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import { z } from 'zod'
import { DecryptionError } from './envelope.ts'
import type { TransitClient } from './transit-keys.ts'

/** Where the service is, and how it is asked. */
export type TransitSettings = {
  /** For example `https://openbao.internal:8200`. */
  readonly url: string
  /** The path that the transit engine is enabled at. */
  readonly mount: string
  /** The name of the key. */
  readonly key: string
  readonly namespace: string | undefined
  /** Read for each request: whoever renews the token writes it to a file. @throws Error when it cannot be read */
  readonly readToken: () => string
}

/** A write of a project may wait for it, in a transaction that others wait for. */
const TOTAL_MS = 3_000
const ATTEMPT_MS = 1_400
const FIRST_WAIT_MS = 50
/** Sealed, restarting, a standby without a leader, or asked too often. Every request may be repeated. */
const RETRIED_STATUSES: readonly number[] = [412, 429, 472, 473, 500, 502, 503, 504]
/** 500 data keys in base64, with their places in JSON, are far smaller. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

const keyAnswer = z.object({
  data: z.object({ type: z.string(), derived: z.boolean().default(false), keys: z.record(z.string(), z.number()) }),
})
const encrypted = z.object({ ciphertext: z.string().regex(/^vault:v[1-9]\d{0,8}:[A-Za-z0-9+/=]+$/) })
const decrypted = z.object({ plaintext: z.base64() })
const results = <Item extends z.ZodType>(item: Item) => z.object({ data: z.object({ batch_results: z.array(item) }) })
const ENCRYPTED = results(encrypted)
const DECRYPTED = results(decrypted)

/** An answer with an error. The message of the service is for the log; it repeats no plaintext. */
class TransitError extends Error {
  override readonly name = 'TransitError'
  readonly status: number

  constructor(status: number, message: string) {
    super(`the transit service answered ${String(status)}: ${message}`)
    this.status = status
  }
}

/** Asks a transit service by HTTP, as the API of HashiCorp Vault and OpenBao is published. */
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
      // A token goes to no other host.
      redirect: 'error',
      signal: AbortSignal.any([deadline, AbortSignal.timeout(ATTEMPT_MS)]),
    })
    const text = await readText(response)
    if (!response.ok) throw new TransitError(response.status, messageOf(text))
    return text
  }

  /** Asks until there is an answer, for three seconds at most. */
  async function ask(method: 'GET' | 'POST', path: string, body?: object): Promise<string> {
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
      const text = await ask(method, path, body)
      return schema.parse(JSON.parse(text), { reportInput: false })
    } catch (error) {
      // 400 is about the ciphertext: everything else is in our hands.
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

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  const body: AsyncIterable<Uint8Array> | null = response.body
  let bytes = 0
  for await (const chunk of body ?? NOTHING) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the transit service answered more than 4 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const NOTHING: readonly Uint8Array[] = []

const errorAnswer = z.object({
  errors: z.array(z.string()).optional(),
  data: z.object({ batch_results: z.array(z.object({ error: z.string().optional() })) }).optional(),
})

/** What the service says went wrong: of the request, or of the first item of a batch. */
function messageOf(text: string): string {
  try {
    const { errors = [], data } = errorAnswer.parse(JSON.parse(text))
    const ofItem = data?.batch_results.find(({ error }) => error !== undefined && error !== '')?.error
    return (errors[0] ?? ofItem ?? 'without a reason').slice(0, 300)
  } catch {
    return 'without a reason'
  }
}

/** An answer that is malformed may hold a data key: its error says only that. */
function withoutInput(error: unknown): unknown {
  if (error instanceof z.ZodError || error instanceof SyntaxError)
    return new Error('the transit service answered something else than its API says')
  return isError(error) ? error : new Error('unknown error')
}
