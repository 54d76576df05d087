import type { RequestToSign, SignatureHeaders, SigningKey } from '@vault-and-tracker/http-signatures/sign'
import { errorOfAnswer, errorOfFailure, VaultError } from './errors.ts'

/** The functions that have one implementation for Node and one for browsers. */
export type Signer = {
  importPrivateKey(key: string | Uint8Array): SigningKey
  signRequest(request: RequestToSign): SignatureHeaders | Promise<SignatureHeaders>
}

/** How requests are sent and retried. */
export type TransportOptions = {
  /** URL of the vault, for example `https://vault.example.org`. */
  readonly url: string
  /** Limit for each attempt; 10,000 ms by default. */
  readonly timeoutMs?: number | undefined
  /** Number of retries after a missing response, or 429, 502, 503 or 504; 3 by default. */
  readonly retries?: number | undefined
  /** Longest wait before a retry; 20,000 ms by default. If the vault asks for a longer one, the request fails. */
  readonly maxWaitMs?: number | undefined
  /**
   * Longest accepted response in bytes after decompression; 16 MiB by default, four times the default size of an
   * environment.
   */
  readonly maxResponseBytes?: number | undefined
  /** Replaces the global `fetch`, for example to use a proxy. */
  readonly fetch?: typeof fetch | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request without its headers. `path` begins with a slash. */
export type VaultRequest = {
  readonly method: Method
  readonly path: string
  readonly body?: string
  /** Creates the headers of one attempt, so that each has its own nonce. */
  readonly authenticate: (url: string) => Record<string, string> | Promise<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** How long the vault may wait before it responds, in addition to the limit for each attempt; 0 by default. */
  readonly waitMs?: number | undefined
  /** Whether the request is not idempotent. It is then only retried if the vault cannot have processed it. */
  readonly once?: boolean
}

export type Transport = {
  /**
   * Sends a request, with retries, and returns the parsed JSON of the response.
   *
   * @throws VaultError
   */
  send(request: VaultRequest): Promise<unknown>
}

/** Wait before the first retry. It doubles with each retry and is shortened at random. */
const FIRST_WAIT_MS = 200
const RETRIED_STATUSES = new Set([429, 502, 503, 504])
const RETRIED_CODES = new Set(['unknown_host', 'connection_refused', 'unreachable', 'timeout', 'replayed_nonce'])

/** The longest delay that `setTimeout` supports. It replaces longer ones with 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1

const NOT_CARRIED_OUT = new Set(['unknown_host', 'connection_refused', 'rate_limited'])

/** Whether a retry may help. `replayed_nonce` means that a proxy repeated the request. */
function isRetried(error: VaultError): boolean {
  return error.status === undefined || error.code === 'replayed_nonce'
    ? RETRIED_CODES.has(error.code)
    : RETRIED_STATUSES.has(error.status)
}

/**
 * Whether the vault may have processed the request. After `replayed_nonce`, it may have processed the proxy's first
 * copy.
 */
function isMaybeDone({ code, status }: VaultError): boolean {
  if (NOT_CARRIED_OUT.has(code)) return false
  return status === undefined || status >= 500 || code === 'replayed_nonce'
}

/**
 * Whether cached secrets may be used instead. They may not after a refusal, for example because the key was revoked.
 */
export function cannotBeAsked(error: unknown): error is VaultError {
  return error instanceof VaultError && (isRetried(error) || error.code === 'tls_failed' || (error.status ?? 0) >= 500)
}

/** @throws VaultError `invalid_configuration` if the number is out of range */
export function numberOption(name: string, value: number, least = 0): number {
  if (value >= least && (name !== 'retries' || value === Number.POSITIVE_INFINITY || Number.isInteger(value)))
    return value
  throw new VaultError('invalid_configuration', `${name} must be a number of at least ${String(least)}`)
}

/** @throws VaultError `invalid_configuration` if the URL is not an HTTP URL, or a number is out of range */
export function createTransport(options: TransportOptions): Transport {
  const timeoutMs = Math.min(numberOption('timeoutMs', options.timeoutMs ?? 10_000, 1), MAX_TIMER_MS)
  const retries = numberOption('retries', options.retries ?? 3)
  const maxWaitMs = numberOption('maxWaitMs', options.maxWaitMs ?? 20_000)
  const maxBytes = numberOption('maxResponseBytes', options.maxResponseBytes ?? 16 * 1024 ** 2, 1)
  const base = readUrl(options.url)
  // The global `fetch` is looked up at each call, so that replacements of it take effect.
  const fetchOnce: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init))

  const attempt = async ({ method, path, body, authenticate, signal, waitMs = 0 }: VaultRequest): Promise<unknown> => {
    const url = new URL(path, base).href
    const headers: Record<string, string> = { ...(await authenticate(url)), accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const timeout = AbortSignal.timeout(Math.min(timeoutMs + waitMs, MAX_TIMER_MS))
    const request: RequestInit = {
      ...{ method, headers, redirect: 'manual', cache: 'no-store', credentials: 'omit' },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(body !== undefined && { body }),
    }
    try {
      return await readAnswer(await fetchOnce(url, request), maxBytes)
    } catch (error) {
      signal?.throwIfAborted()
      throw error instanceof VaultError ? error : errorOfFailure(base.host, error)
    }
  }

  return {
    send: async (request) => {
      let mayBeDone = false
      for (let tried = 0; ; tried++) {
        try {
          return await attempt(request)
        } catch (error) {
          if (!(error instanceof VaultError)) throw error
          // An earlier attempt deleted it, and its response was lost.
          if (error.code === 'not_found' && request.method === 'DELETE' && mayBeDone) return { ok: true }
          const wait = Math.max(error.retryAfterMs ?? 0, backoff(tried))
          const isAllowed = request.once === true ? NOT_CARRIED_OUT.has(error.code) : isRetried(error)
          if (tried >= retries || wait > maxWaitMs || !isAllowed) throw error
          mayBeDone ||= isMaybeDone(error)
          await sleep(wait, request.signal)
        }
      }
    },
  }
}

/** Returns milliseconds. The random part keeps many clients from retrying at once. */
function backoff(tried: number): number {
  return FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random() / 2)
}

function readUrl(text: string): URL {
  // `localhost:4200` is also a URL, with the scheme `localhost`. Programs in JavaScript can pass undefined.
  if (!/^\s*https?:/i.test(text))
    throw new VaultError('invalid_configuration', 'the URL of the vault must begin with http:// or https://')
  if (!URL.canParse(text)) throw new VaultError('invalid_configuration', 'the URL of the vault is not valid')
  const url = new URL(text)
  if (url.href !== `${url.origin}/`)
    throw new VaultError(
      'invalid_configuration',
      'the URL of the vault must be a scheme, a host and an optional port, without a path or credentials',
    )
  return url
}

async function readAnswer(response: Response, maxBytes: number): Promise<unknown> {
  // A signature is valid for one address, and a token for one vault. Browsers hide the status of redirects.
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel()
    const message = 'the vault redirects to another address; redirects are not followed, so use that address as the URL'
    throw new VaultError('invalid_answer', message, { status: response.status })
  }
  const text = await readText(response, maxBytes)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // This is the page of a proxy, or of another kind of server.
    if (RETRIED_STATUSES.has(response.status) || response.status === 404) throw refusalOf(response, undefined)
    // The cause is left out because it quotes the text, which may contain a value.
    const message = 'the response is not JSON; check the URL of the vault'
    throw new VaultError('invalid_answer', message, { status: response.status })
  }
  if (response.ok) return body
  throw refusalOf(response, body)
}

/** Counts decompressed bytes while reading, so that a response over the limit is never in memory as a whole. */
async function readText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let [text, length] = ['', 0]
  for (;;) {
    // Node's types leave open what a chunk is; that of a response is bytes.
    const { value } = (await reader.read()) as { value?: Uint8Array }
    if (value === undefined) return text + decoder.decode()
    length += value.byteLength
    if (length > maxBytes) {
      await reader.cancel()
      const message = `the response of the vault is longer than ${String(maxBytes)} bytes; increase maxResponseBytes to accept it`
      throw new VaultError('invalid_answer', message, { status: response.status })
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** What the vault adds to an error whose body has only a code. */
const DESCRIPTION = /\berror_description="([^"\\]*)"/

function refusalOf(response: Response, body: unknown): VaultError {
  const { status, headers } = response
  const now = Date.now()
  const date = Date.parse(headers.get('date') ?? '')
  return errorOfAnswer({
    status,
    code: stringMember(body, 'error'),
    message: stringMember(body, 'message') ?? DESCRIPTION.exec(headers.get('www-authenticate') ?? '')?.[1],
    retryAfterMs: readRetryAfter(headers.get('retry-after'), now),
    clockDifferenceMs: Number.isNaN(date) ? undefined : now - date,
  })
}

/** Retry-After as seconds or as a date (RFC 9110 section 10.2.3). */
function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function stringMember(body: unknown, name: string): string | undefined {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined
  const value = (body as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : undefined
}

/** Rejects with the reason of the signal if it is aborted. Waits at most 24 days. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      Math.min(ms, MAX_TIMER_MS),
    )
    signal?.addEventListener('abort', abort, { once: true })
  })
}
