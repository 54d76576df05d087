import { setTimeout as sleep } from 'node:timers/promises'

const TIMEOUT_MS = 30_000
const PATIENCE_MS = 10 * 60_000

/** What is sent: a form as it is, another body as JSON. */
export type RequestOptions = {
  headers?: Record<string, string>
  body?: object | undefined
}

/** A request of a signed-in user. */
export type Call = (method: string, path: string, body?: object) => Promise<Response>

/** Sends a request, again where a limit refused it, since frequent starts can reach the limits. */
export async function send(method: string, url: string, { headers, body }: RequestOptions = {}): Promise<Response> {
  const isJson = body !== undefined && !(body instanceof FormData)
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const response = await fetch(url, {
      method,
      // A connection of its own: one that was idle may have been closed at the other end meanwhile.
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

/** The body of an answer. @throws with what it says, when it is no success */
export async function bytesOf(response: Response): Promise<Buffer> {
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.ok) return bytes
  throw new Error(`${new URL(response.url).pathname} was answered ${response.status} ${bytes.toString().slice(0, 500)}`)
}

/** The same as the value that its JSON describes. */
export async function jsonOf(response: Response): Promise<unknown> {
  return JSON.parse((await bytesOf(response)).toString())
}

/** Signs in to the tracker and returns the session cookie; undefined when the name or the password is wrong. */
export async function signIn(url: string, username: string, password: string): Promise<string | undefined> {
  const response = await send('POST', `${url}/api/auth/login`, { body: { username, password } })
  if (response.status === 401) return undefined
  await bytesOf(response)
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}

/** Requests to the tracker with a session cookie. Whether the session is still valid, the first one shows. */
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
