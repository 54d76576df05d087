import { setTimeout as sleep } from 'node:timers/promises'

const TIMEOUT_MS = 30_000

/** What a signed-in user can do with the tracker's REST interface. */
export interface TrackerSession {
  /** The session cookie, as a browser stores it. */
  cookie: string
  get(path: string): Promise<Response>
  post(path: string, body?: FormData): Promise<Response>
}

/** Signs in. Undefined when the name or the password is wrong. */
export async function signIn(url: string, username: string, password: string): Promise<TrackerSession | undefined> {
  const response = await patiently(() =>
    fetch(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }),
  )
  if (response.status === 401) return undefined
  if (!response.ok) throw new Error(`the tracker did not sign ${username} in: ${await describe(response)}`)
  const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
  return sessionOf(url, cookies.join('; '))
}

/** Continues an earlier session. Whether it is still valid, its first request shows. */
export function sessionOf(url: string, cookie: string): TrackerSession {
  const request = (method: string, path: string, body?: FormData): Promise<Response> =>
    patiently(() =>
      fetch(`${url}${path}`, {
        method,
        headers: { cookie },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body !== undefined && { body }),
      }),
    )
  return { cookie, get: (path) => request('GET', path), post: (path, body) => request('POST', path, body) }
}

/** An unexpected answer in one line. */
export async function describe(response: Response): Promise<string> {
  return `${response.status} ${(await response.text()).slice(0, 500)}`
}

/** Repeats a request that a limit refused, since frequent starts can reach the limits. */
async function patiently(send: () => Promise<Response>): Promise<Response> {
  const deadline = Date.now() + 10 * 60_000
  for (;;) {
    const response = await send()
    const wait = Number(response.headers.get('retry-after') ?? '5') * 1000
    if (response.status !== 429 || !(Date.now() + wait < deadline)) return response
    await response.body?.cancel()
    await sleep(wait)
  }
}
