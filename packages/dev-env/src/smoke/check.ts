import { eventually } from '../testing/eventually.ts'
import { answersReady } from '../world/services.ts'
import type { Compose } from './compose.ts'

/** What a check of a service works with. */
export interface Check {
  /** Where the service is. */
  url: string
  /** A name of its own for everything that this run makes. */
  runId: string
  /** The environment, and beneath it what `.env` says. */
  settings: Record<string, string | undefined>
  compose: Compose
  /** Reports a fact that holds. */
  ok: (fact: string) => void
  /** Has something that was made undone in the end, in reverse order, whatever happens. */
  later: (what: string, undo: () => unknown) => void
}

/** @throws with `reason` unless the condition holds */
export function expect(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Error(reason)
}

/** An error as one line; fetch hides the reason in the cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
}

/** Waits until a service says that it is ready. */
export async function ready(url: string): Promise<void> {
  await eventually(() => answersReady(url)).catch((cause: unknown) => {
    throw new Error(`${url}/ready was not 200 within a minute`, { cause })
  })
}

/** Sends a request, a plain object as JSON. */
export function send(
  url: string,
  path: string,
  { method, body, headers = {} }: { method: string; body?: object | undefined; headers?: Record<string, string> },
): Promise<Response> {
  const isForm = body instanceof FormData
  return fetch(new URL(path, url), {
    method,
    headers: { ...headers, ...(body !== undefined && !isForm && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(15_000),
  })
}

/** Sends a request and returns the bytes of the answer, which has to be a success. */
export async function answer(...[url, path, request]: Parameters<typeof send>): Promise<Buffer> {
  const response = await send(url, path, request)
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.ok, `${request.method} ${path} was answered ${response.status} ${bytes.toString().slice(0, 300)}`)
  return bytes
}
