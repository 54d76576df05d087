import createClient, { type Client } from 'openapi-fetch'
import { ApiError } from './error.ts'

/** A client of the origin that served the page; `Paths` is what openapi-typescript made of the API's document. */
export function createApi<Paths extends object>(): Client<Paths> {
  return createClient<Paths>({ baseUrl: location.origin })
}

type Outcome<Data> = { data?: Data; error?: unknown; response: Response }

/**
 * The body of an answer.
 *
 * @throws ApiError when the server refused or was not reached
 */
export async function read<Data>(request: Promise<Outcome<Data>>): Promise<Data> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiError({ status: 0, code: 'UNREACHABLE', message: 'The server was not reached.' })
  })
  if (!response.ok) throw toApiError(error, response)
  return data as Data
}

function toApiError(body: unknown, { status, headers }: Response): ApiError {
  const { code, message } = describedIn(body) ?? { code: 'UNKNOWN', message: `The server answered ${status}.` }
  const wait = Number(headers.get('Retry-After') ?? Number.NaN)
  return new ApiError({ status, code, message, retryAfter: Number.isFinite(wait) ? wait : undefined })
}

/** The `{"error":{"code","message"}}` of both services' answers. */
function describedIn(body: unknown): { code: string; message: string } | undefined {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error)) return undefined
  return { code: String(error.code), message: String(error.message) }
}
