import { setTimeout as sleep } from 'node:timers/promises'

const TIMEOUT_MS = 30_000
const PATIENCE_MS = 10 * 60_000

/** A body is sent as JSON, unless it is a form. */
type RequestOptions = { headers?: Record<string, string>; body?: object | undefined }

/** Sends a request as a signed-in user. */
export type Call = (method: string, path: string, body?: object) => Promise<Response>

/** Sends a request, and repeats it when a rate limit refused it: frequent starts can reach the limits. */
export async function send(method: string, url: string, { headers, body }: RequestOptions = {}): Promise<Response> {
  const isJson = body !== undefined && !(body instanceof FormData)
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const response = await fetch(url, {
      method,
      // A new connection, because the server may be closing an idle one.
      headers: { connection: 'close', ...headers, ...(isJson && { 'content-type': 'application/json' }) },
      body: isJson ? JSON.stringify(body) : (body ?? null),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const wait = Number(response.headers.get('retry-after') ?? '5') * 1000
    if (response.status !== 429 || !(Date.now() + wait < deadline)) return response
    await response.body?.cancel()
    await sleep(wait)
  }
}

/** The body of a response. @throws with its beginning, unless the request succeeded */
export async function bytesOf(response: Response): Promise<Buffer> {
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.ok) return bytes
  throw new Error(`${new URL(response.url).pathname} was answered ${response.status} ${bytes.toString().slice(0, 500)}`)
}

/** The same, parsed as JSON. */
export async function jsonOf(response: Response): Promise<unknown> {
  return JSON.parse((await bytesOf(response)).toString())
}

/** Signs in to the tracker. Returns the session cookie, or undefined if the tracker refuses the name or the password. */
export async function signIn(url: string, username: string, password: string): Promise<string | undefined> {
  const response = await send('POST', `${url}/api/auth/login`, { body: { username, password } })
  if (response.status === 401 || response.status === 403) return undefined
  await bytesOf(response)
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}

/** Sends requests to the tracker with a session cookie, which may have expired. */
export function callerWith(url: string, cookie: string): Call {
  return (method, path, body) => send(method, `${url}${path}`, { headers: { cookie }, body })
}

/** Uploads a torrent to the tracker. */
export async function uploadTorrent(
  call: Call,
  torrent: Buffer,
  { name, category }: { name: string; category: string },
): Promise<Response> {
  const form = new FormData()
  const file = new Blob([new Uint8Array(torrent)], { type: 'application/x-bittorrent' })
  form.set('torrent', file, 'upload.torrent')
  form.set('name', name)
  form.set('category', category)
  return await call('POST', '/api/torrents', form)
}
