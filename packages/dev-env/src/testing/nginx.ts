import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type Agent, request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { temporaryFolder } from '../postgres/temporary-folder.ts'
import { freePort } from '../processes/ports.ts'
import { requireProgram } from '../processes/programs.mjs'
import { pauseTree, resumeTree } from '../processes/stop.mjs'
import { eventually } from './eventually.ts'
import { changedExample, createProxyCertificate, type Proxy, startProxy, type Upstreams } from './proxy.ts'
import { TRIALS } from './trials.ts'

/** An nginx in front of the services. */
export type Nginx = Proxy & {
  /** Reads a configuration with other replicas, and waits until the earlier workers have finished their requests. */
  reload(upstreams: Upstreams): Promise<void>
  /** Stops all of its processes as they are. Requests wait in its sockets. */
  pause(): void
  resume(): void
}

/** A request to a service, by its name in the example; a `body` is JSON. */
export type ProxiedRequest = {
  readonly host: 'tracker.example.org' | 'vault.example.org'
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Starts nginx with the example for operators.
 *
 * @param keepAliveMs how long it keeps an idle connection to a service, a minute by default
 */
export async function startNginx(upstreams: Upstreams, keepAliveMs = 60_000): Promise<Nginx> {
  const program = await requireProgram('nginx')
  const folder = temporaryFolder('nginx')
  const port = await freePort()
  const { certificate, key } = await createProxyCertificate(folder)
  const config = join(folder, 'nginx.conf')
  const configure = (replicas: Upstreams): void => {
    const site = changedExample('nginx.conf', {
      'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
      'server 127.0.0.1:6969 max_fails=0;': serversOf(replicas.tracker),
      'server 127.0.0.1:4200 max_fails=0;': serversOf(replicas.vault),
      'keepalive 64;': `keepalive 64; keepalive_timeout ${keepAliveMs}ms;`,
      '/etc/nginx/tls/fullchain.pem': certificate,
      '/etc/nginx/tls/privkey.pem': key,
      '/var/log/nginx': folder,
    })
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    const http = `access_log ${folder}/access.log; ${paths.join(' ')}\n${site}`
    writeFileSync(
      config,
      `${user} daemon off; pid ${folder}/pid; error_log stderr notice;\nevents {}\nhttp { ${http}\n}`,
    )
  }
  configure(upstreams)
  const command = [program, '-e', 'stderr', '-p', folder, '-c', config] as const
  const { child, ...proxy } = await startProxy({ command, folder, port, certificate })
  const exits = (): number => proxy.logs().match(/worker process \d+ exited/g)?.length ?? 0
  return {
    ...proxy,
    reload: async (replicas) => {
      configure(replicas)
      const before = exits()
      child.kill('SIGHUP')
      await eventually(() => exits() > before)
    },
    pause: () => pauseTree(Number(child.pid)),
    resume: () => resumeTree(Number(child.pid)),
  }
}

function serversOf(replicas: readonly string[] = ['127.0.0.1:9']): string {
  return replicas.map((replica) => `server ${replica} max_fails=0;`).join(' ')
}

/** Sends a request through a proxy. Returns its status, or the error message. */
export function sendThrough(
  { port }: Proxy,
  agent: Agent,
  { host, method, path, headers = {}, body = '' }: ProxiedRequest,
): Promise<string> {
  const content = body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const options = { host: '127.0.0.1', port, servername: host, agent, method, path }
  return new Promise((resolve) => {
    const message = request({ ...options, headers: { host, ...headers, ...content } }, (response) => {
      response.resume().once('end', () => resolve(String(response.statusCode)))
    })
    message.once('error', (error) => resolve(error.message))
    message.end(body)
  })
}

/** Counts outcomes. */
function tally(outcomes: Record<string, number>, outcome: string): void {
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
}

/** Two replicas of a service behind nginx. */
export type ReplicaPair = {
  readonly service: 'vault' | 'tracker'
  readonly ports: readonly [number, number]
  /** Stops a replica and starts it again on its port. */
  readonly restart: (replica: 0 | 1) => Promise<void>
}

/** How long nginx may take to finish requests to a replica, according to docs/operations.md. */
const DRAIN_MS = 2_000
const CLIENTS = TRIALS > 1 ? 32 : 8
/** The pause of each client after a response, so that the clients do not take the processor from nginx and the replicas. */
const PAUSE_AFTER_ANSWER_MS = 10

/** The addresses of the replicas in the notation of nginx. A replica that is `down` gets no requests. */
export function replicaAddresses(ports: readonly [number, number], down?: 0 | 1): readonly string[] {
  return ports.map((port, i) => `127.0.0.1:${String(port)}${i === down ? ' down' : ''}`)
}

/**
 * Restarts both replicas, one after the other, following docs/operations.md, while clients send requests.
 *
 * @param send sends the request with this number and returns its outcome
 * @returns how often each outcome occurred
 */
export async function restartUnderLoad(
  nginx: Nginx,
  { service, ports, restart }: ReplicaPair,
  send: (number: number) => Promise<string>,
): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {}
  let sent = 0
  let isOver = false
  const client = async (): Promise<void> => {
    while (!isOver) {
      tally(outcomes, await send(sent++))
      await sleep(PAUSE_AFTER_ANSWER_MS)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  try {
    for (const replica of [1, 0] as const) {
      await nginx.reload({ [service]: replicaAddresses(ports, replica) })
      await sleep(DRAIN_MS)
      await restart(replica)
      const ready = `http://127.0.0.1:${String(ports[replica])}/ready`
      await eventually(async () => (await fetch(ready)).status === 200)
      await nginx.reload({ [service]: replicaAddresses(ports) })
    }
  } finally {
    isOver = true
  }
  await clients
  return outcomes
}

/** In tests of idle connections both sides keep them this much shorter than in production. */
export const IDLE_SCALE = 1 / 30
/** How long nginx keeps an idle connection in such a test. */
export const NGINX_KEEPS_MS = 60_000 * IDLE_SCALE
/** How long nginx is paused when a connection is about to end, so that requests arrive before the end of the connection. */
const PAUSE_MS = 150

/** How long an HTTP server on the loopback keeps a connection that is idle after a request, in milliseconds. */
async function idleTimeOf(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  const answeredAt = Date.now()
  socket.resume()
  await once(socket, 'end')
  return Date.now() - answeredAt
}

/**
 * Lets requests race against the end of the idle connections from nginx to a service. Nginx is paused while requests arrive
 * and connections end, and then finds both in the order of their arrival.
 *
 * @param port of the service, to measure how long it keeps a connection
 * @param prepare returns the requests of a round; requests that nginx may not repeat reveal a loss
 * @returns the outcomes of all requests
 */
export async function raceIdleEnds(
  nginx: Nginx,
  port: number,
  prepare: () => Promise<readonly (() => Promise<string>)[]>,
): Promise<readonly string[]> {
  const endsMs = [NGINX_KEEPS_MS, await idleTimeOf(port)]
  const sendAll = async (requests: readonly (() => Promise<string>)[]): Promise<readonly string[]> =>
    await Promise.all(requests.map((send) => send()))
  // The first requests open the connections.
  const outcomes = [...(await sendAll(await prepare()))]
  for (const endMs of Array.from({ length: TRIALS }, () => endsMs).flat()) {
    const requests = await prepare()
    await sleep(endMs - PAUSE_MS / 2)
    nginx.pause()
    const answers = sendAll(requests)
    await sleep(PAUSE_MS)
    nginx.resume()
    outcomes.push(...(await answers))
  }
  return outcomes
}
