import { requireDocumented } from './documented.ts'

/** A response. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly bytes: Buffer
  /** The body as JSON; undefined when it is of another type. */
  readonly json: unknown
  /** Text at a path of members, such as `member('error', 'code')`; throws if it is missing. */
  member(...path: readonly (string | number)[]): string
}

/** Sends requests and keeps the cookie, as a browser does. */
export type Client = {
  cookie: string | undefined
  /** The cookie of a sign-in that waits for the second factor. */
  pending: string | undefined
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
  upload(torrent: Buffer | undefined, fields: Record<string, string>): Promise<Answer>
  send(
    method: string,
    path: string,
    init?: { body?: string | FormData; headers?: Record<string, string> },
  ): Promise<Answer>
}

/** A client without a session. */
export function createClient(url: string): Client {
  const client: Client = {
    cookie: undefined,
    pending: undefined,
    async send(method, path, init = {}) {
      const cookies = [
        ...(client.cookie === undefined ? [] : [`session=${client.cookie}`]),
        ...(client.pending === undefined ? [] : [`pending=${client.pending}`]),
      ]
      const cookie = cookies.length === 0 ? {} : { cookie: cookies.join('; ') }
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        ...init,
        headers: { ...cookie, ...init.headers },
      })
      for (const set of response.headers.getSetCookie()) {
        const [, name, value] = /^(session|pending)=([^;]*)/.exec(set) ?? []
        if (name === 'session') client.cookie = value || undefined
        if (name === 'pending') client.pending = value || undefined
      }
      const answer = await readAnswer(response)
      requireDocumented(method, path, answer)
      return answer
    },
    get: (path, headers) => client.send('GET', path, headers && { headers }),
    post: (path, body, headers) =>
      client.send('POST', path, {
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      }),
    patch: (path, body) =>
      client.send('PATCH', path, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    delete: (path) => client.send('DELETE', path),
    upload(torrent, fields) {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      if (torrent) form.append('torrent', new Blob([Uint8Array.from(torrent)]), 'upload.torrent')
      return client.send('POST', '/api/torrents', { body: form })
    },
  }
  return client
}

async function readAnswer(response: Response): Promise<Answer> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = bytes.toString('utf8')
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const json: unknown = isJson && text !== '' ? JSON.parse(text) : undefined
  return {
    status: response.status,
    headers: response.headers,
    text,
    bytes,
    json,
    member: (...path) => {
      let value: unknown = json
      for (const name of path)
        value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
      if (typeof value !== 'string') throw new Error(`no text at ${path.join('.')} of ${text}`)
      return value
    },
  }
}
