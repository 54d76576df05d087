import createClient, { type Client } from 'openapi-fetch'
import { ApiError } from './error.ts'

/** A client for the origin that served the page. `Paths` is generated from the API's document. */
export function createApi<Paths extends object>(): Client<Paths> {
  return createClient<Paths>({ baseUrl: location.origin })
}

type Outcome<Data> = { data?: Data; error?: unknown; response: Response }

/** Returns the body of a response. @throws ApiError if the request was refused or the server was not reached */
export type Read = <Data>(request: Promise<Outcome<Data>>) => Promise<Data>

/** @param sentences for error codes that the server sends without a message */
export function createRead(sentences: Readonly<Record<string, string>>): Read {
  return async <Data>(request: Promise<Outcome<Data>>) => {
    const { data, error, response } = await request.catch((cause: unknown) => {
      if (cause instanceof ApiError || (cause instanceof DOMException && cause.name === 'AbortError')) throw cause
      throw new ApiError({ status: 0, code: 'UNREACHABLE', message: 'Could not reach the server.' })
    })
    if (!response.ok) throw toApiError(error, response, sentences)
    return data as Data
  }
}

/** For a service that sends a message with every error. */
export const read: Read = createRead({})

function toApiError(
  body: unknown,
  { status, headers }: Response,
  sentences: Readonly<Record<string, string>>,
): ApiError {
  const { code, message } = describedIn(body)
  const wait = Number(headers.get('Retry-After') ?? Number.NaN)
  return new ApiError({
    status,
    code,
    message: message ?? sentences[code] ?? `The server returned ${status}.`,
    retryAfter: Number.isFinite(wait) ? wait : undefined,
  })
}

/** The tracker answers `{"error":{"code","message"}}`, the vault `{"error":code}` with or without `message`. */
function describedIn(body: unknown): { code: string; message?: string } {
  const { error, message } = membersOf(body)
  const inner = typeof error === 'string' ? { code: error, message } : membersOf(error)
  if (typeof inner['code'] !== 'string') return { code: 'UNKNOWN' }
  return { code: inner['code'], ...(typeof inner['message'] === 'string' && { message: inner['message'] }) }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
