import { Agent, request } from 'node:http'

/** A client with a session over keep-alive connections. */
export type SignedIn = {
  /** The value of the header. */
  readonly cookie: string
  get(path: string): Promise<string>
  close(): void
}

/** Signs in. @throws Error with the answer when that fails, as does any request */
export async function signIn(url: string, account: { username: string; password: string }): Promise<SignedIn> {
  const agent = new Agent({ keepAlive: true })
  const { username, password } = account
  const answer = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  const cookie = answer.headers
    .getSetCookie()
    .map((set) => set.split(';')[0])
    .join('; ')
  return {
    cookie,
    get: (path) => send(url + path, agent, cookie),
    close: () => agent.destroy(),
  }
}

function send(url: string, agent: Agent, cookie: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const message = request(url, { agent, headers: { cookie }, timeout: 60_000 }, (response) => {
      response.setEncoding('utf8')
      let body = ''
      response.on('data', (chunk: string) => (body += chunk))
      response.on('end', () => {
        if (response.statusCode === 200) resolve(body)
        else reject(new Error(`${url}: ${String(response.statusCode)} ${body}`))
      })
    })
    message.on('error', reject)
    message.on('timeout', () => message.destroy(new Error(`${url}: no answer`)))
    message.end()
  })
}
