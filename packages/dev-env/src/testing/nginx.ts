import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type Agent, request } from 'node:https'
import { join } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { removeTemporaryFolder, temporaryFolder } from '../postgres/temporary-folder.ts'
import { findProgram } from '../processes/command.mjs'
import { freePort } from '../processes/ports.ts'
import { pauseTree, resumeTree } from '../processes/stop.mjs'
import { eventually } from './eventually.ts'

/** The replicas of each service, as `host:port`, with what nginx takes behind that, such as `down`. */
export type Upstreams = {
  readonly tracker?: readonly string[]
  readonly vault?: readonly string[]
}

/** What of the example a test changes. */
export type NginxOptions = {
  /** How long an idle connection to a service is kept, in milliseconds; 60,000 by default of nginx. */
  readonly keepAliveMs?: number
}

/** An nginx in front of the services, at a port of the loopback. It knows them by the names of the example. */
export type Nginx = {
  readonly port: number
  /**
   * What a client connects with that trusts its certificate, which it signed itself, for `tracker.example.org` and
   * `vault.example.org`. It is made once: making it takes longer than a request.
   */
  readonly trusted: SecureContext
  /** Reads a configuration with other replicas, and waits until the processes from before have finished their requests. */
  reload(upstreams: Upstreams): Promise<void>
  /** Stops all of its processes as they are: what comes meanwhile waits in its sockets, in its order. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** A request to a service by the name that the example gives it; a `body` is JSON. */
export type ProxiedRequest = {
  readonly host: 'tracker.example.org' | 'vault.example.org'
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const EXAMPLE = new URL('../../../../infra/nginx.conf.example', import.meta.url)

/** Starts nginx with the example for operators, of which only addresses and paths are changed. */
export async function startNginx(upstreams: Upstreams, { keepAliveMs }: NginxOptions = {}): Promise<Nginx> {
  const folder = temporaryFolder('nginx')
  const port = await freePort()
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const names = 'subjectAltName=DNS:tracker.example.org,DNS:vault.example.org'
  const subject = ['-subj', '/CN=tracker.example.org', '-addext', names, '-days', '1']
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...newKey, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  const config = join(folder, 'nginx.conf')
  const configure = (replicas: Upstreams): void => {
    const site = changed(readFileSync(EXAMPLE, 'utf8'), [
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['server 127.0.0.1:6969 max_fails=0;', serversOf(replicas.tracker)],
      ['server 127.0.0.1:4200 max_fails=0;', serversOf(replicas.vault)],
      ...(keepAliveMs === undefined
        ? []
        : [['keepalive 64;', `keepalive 64; keepalive_timeout ${keepAliveMs}ms;`] as const]),
      ['/etc/nginx/tls/fullchain.pem', certificate],
      ['/etc/nginx/tls/privkey.pem', key],
    ])
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const isRoot = process.getuid?.() === 0
    writeFileSync(
      config,
      `${isRoot ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log stderr notice;
      events {}
      http { ${paths.join(' ')}
      ${site}
      }`,
    )
  }
  configure(upstreams)
  const child = spawn(findProgram('nginx') ?? 'nginx', ['-e', 'stderr', '-p', folder, '-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${output}`)
    // Whatever it answers to plain HTTP, it runs.
    return fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
  })
  return {
    port,
    trusted: createSecureContext({ ca: readFileSync(certificate) }),
    reload: async (replicas) => {
      configure(replicas)
      output = ''
      child.kill('SIGHUP')
      // What the process from before has accepted may take longer than usual on a busy machine.
      await eventually(() => /worker process \d+ exited/.test(output))
    },
    pause: () => pauseTree(Number(child.pid)),
    resume: () => resumeTree(Number(child.pid)),
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
      removeTemporaryFolder(folder)
    },
  }
}

/** The status of a request through nginx, or what happened to it. */
export function sendThrough(
  { port }: Nginx,
  agent: Agent,
  { host, method, path, headers = {}, body = '' }: ProxiedRequest,
): Promise<string> {
  const content = body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve) => {
    const message = request(
      {
        ...{ host: '127.0.0.1', port, servername: host, agent, method, path },
        headers: { host, ...headers, ...content },
      },
      (response) => {
        response.resume()
        response.once('end', () => resolve(String(response.statusCode)))
      },
    )
    message.once('error', (error) => resolve(error.message))
    message.end(body)
  })
}

/**
 * Sends requests with many clients at once.
 *
 * @param send sends the request of this number and returns its outcome
 * @returns how often each outcome came
 */
export async function sendMany(
  count: number,
  clients: number,
  send: (number: number) => Promise<string>,
): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {}
  let sent = 0
  const client = async (): Promise<void> => {
    while (sent < count) {
      const outcome = await send(sent++)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return outcomes
}

function serversOf(replicas: readonly string[] = ['127.0.0.1:9']): string {
  return replicas.map((replica) => `server ${replica} max_fails=0;`).join(' ')
}

function changed(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`the example has no ${from}`)
    return before.replaceAll(from, to)
  }, text)
}
