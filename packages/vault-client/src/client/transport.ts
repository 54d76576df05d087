import type { RequestToSign, SignatureHeaders, SigningKey } from '@vault-and-tracker/http-signatures'
import { errorOfAnswer, errorOfFailure, VaultError } from './errors.ts'

/** What differs between Node and a browser. */
export type Signer = {
  importPrivateKey(key: string | Uint8Array): SigningKey
  signRequest(request: RequestToSign): SignatureHeaders | Promise<SignatureHeaders>
}

/** How requests are sent and tried again. */
export type TransportOptions = {
  /** Where the vault is, for example `https://vault.example.org`. */
  readonly url: string
  /** Gives up on one try after this long; 10,000 ms by default. */
  readonly timeoutMs?: number | undefined
  /** How often a request is tried again that got no answer, or 429, 502, 503 or 504; 3 by default. */
  readonly retries?: number | undefined
  /** The longest wait before a try, 20,000 ms by default; a vault that asks for a longer one is not asked again. */
  readonly maxWaitMs?: number | undefined
  /** The longest response that is read, in bytes after decompression; 16 MiB by default, four times what an environment stores by default. */
  readonly maxResponseBytes?: number | undefined
  /** In place of the global `fetch`, for example one that goes through a proxy. */
  readonly fetch?: typeof fetch | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One request, but for its headers. `path` begins with a slash. */
export type VaultRequest = {
  readonly method: Method
  readonly path: string
  readonly body?: string
  /** Makes the headers of one try, so that each has a nonce of its own. */
  readonly authenticate: (url: string) => Record<string, string> | Promise<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Whether carrying it out twice makes a difference: then it is only tried again where it cannot have been carried out. */
  readonly once?: boolean
}

export type Transport = {
  /**
   * Sends a request until it is answered, and returns the body as read from JSON.
   *
   * @throws VaultError
   */
  send(request: VaultRequest): Promise<unknown>
}

/** The wait before the second try; it doubles from one to the next, and is shortened at random. */
const FIRST_WAIT_MS = 200
/** Nobody's clock says anything about these: the vault was not asked, or did not come to it. */
const RETRIED_STATUSES = new Set([429, 502, 503, 504])
const RETRIED_CODES = new Set(['unknown_host', 'connection_refused', 'unreachable', 'timeout', 'replayed_nonce'])

/** The longest time a timer takes; of a longer one it would make a millisecond. */
const MAX_TIMER_MS = 2 ** 31 - 1

const NOT_CARRIED_OUT = new Set(['unknown_host', 'connection_refused', 'rate_limited'])

/** Whether asking again may help. A nonce is refused a second time where a proxy repeated the request. */
function isRetried(error: VaultError): boolean {
  return error.status === undefined || error.code === 'replayed_nonce'
    ? RETRIED_CODES.has(error.code)
    : RETRIED_STATUSES.has(error.status)
}

/** Whether the vault may have done what was asked. Where a nonce was spent, a proxy sent the request before. */
function isMaybeDone({ code, status }: VaultError): boolean {
  if (NOT_CARRIED_OUT.has(code)) return false
  return status === undefined || status >= 500 || code === 'replayed_nonce'
}

/** Whether what is kept of a vault may serve instead. One that refuses, for example since the key was revoked, is obeyed. */
export function cannotBeAsked(error: unknown): error is VaultError {
  return error instanceof VaultError && (isRetried(error) || error.code === 'tls_failed' || (error.status ?? 0) >= 500)
}

/** @throws VaultError `invalid_configuration` when the number cannot be meant */
export function numberOption(name: string, value: number, least = 0): number {
  if (value >= least && (name !== 'retries' || value === Number.POSITIVE_INFINITY || Number.isInteger(value)))
    return value
  throw new VaultError('invalid_configuration', `${name} is not a number from ${String(least)}`)
}

/** @throws VaultError `invalid_configuration` when the URL is not one of HTTP, or a number cannot be meant */
export function createTransport(options: TransportOptions): Transport {
  const timeoutMs = Math.min(numberOption('timeoutMs', options.timeoutMs ?? 10_000, 1), MAX_TIMER_MS)
  const retries = numberOption('retries', options.retries ?? 3)
  const maxWaitMs = numberOption('maxWaitMs', options.maxWaitMs ?? 20_000)
  const maxBytes = numberOption('maxResponseBytes', options.maxResponseBytes ?? 16 * 1024 ** 2, 1)
  const base = readUrl(options.url)
  // Called late, so that what replaces the global one is used.
  const fetchOnce: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init))

  const attempt = async ({ method, path, body, authenticate, signal }: VaultRequest): Promise<unknown> => {
    const url = new URL(path, base).href
    const headers: Record<string, string> = { ...(await authenticate(url)), accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const timeout = AbortSignal.timeout(timeoutMs)
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
          // An earlier try removed it, and its answer was lost.
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

/** Milliseconds: what doubles, but for a random part of it, so that many clients do not come back at once. */
function backoff(tried: number): number {
  return FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random() / 2)
}

function readUrl(text: string): URL {
  // `localhost:4200` is a URL too, of the scheme `localhost`. A program without types passes a variable that is not set.
  if (!/^\s*https?:/i.test(text))
    throw new VaultError('invalid_configuration', 'the URL of the vault must begin with http:// or https://')
  if (!URL.canParse(text)) throw new VaultError('invalid_configuration', 'the URL of the vault is not a valid URL')
  return new URL(text)
}

async function readAnswer(response: Response, maxBytes: number): Promise<unknown> {
  // A signature is for one address, and a token for one vault. Browsers do not tell the status.
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
    // The page of a proxy, or of a server that is no vault.
    if (RETRIED_STATUSES.has(response.status) || response.status === 404) throw refusalOf(response, undefined)
    // Without its cause: that quotes what it fails on, which may be a value.
    const message = 'the response is not JSON; check the URL of the vault'
    throw new VaultError('invalid_answer', message, { status: response.status })
  }
  if (response.ok) return body
  throw refusalOf(response, body)
}

/** Counts what was decompressed as it comes, so that no response is held that is longer than allowed. */
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
      const message = `the response of the vault is longer than ${String(maxBytes)} bytes; if it may be, raise maxResponseBytes`
      throw new VaultError('invalid_answer', message, { status: response.status })
    }
    text += decoder.decode(value, { stream: true })
  }
}

function refusalOf(response: Response, body: unknown): VaultError {
  const { status, headers } = response
  const now = Date.now()
  const date = Date.parse(headers.get('date') ?? '')
  return errorOfAnswer({
    status,
    code: stringMember(body, 'error'),
    message: stringMember(body, 'message'),
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

/** Rejects with what the signal is aborted with. A wait of more than 24 days ends then. */
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
