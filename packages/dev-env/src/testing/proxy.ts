import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { removeTemporaryFolder } from '../postgres/temporary-folder.ts'
import { createCertificate } from './certificates.ts'
import { eventually } from './eventually.ts'

/** The replicas of each service, as `host:port`, followed by options of nginx such as `down`. */
export type Upstreams = { readonly tracker?: readonly string[]; readonly vault?: readonly string[] }

/** A proxy in front of the services, on a loopback port, with the server names of its example for operators. */
export type Proxy = {
  readonly port: number
  /** Trusts its self-signed certificate for `tracker.example.org` and `vault.example.org`. */
  readonly trusted: SecureContext
  /** Everything that it has logged. */
  logs(): string
  stop(): Promise<void>
}

/** Creates the certificate of a proxy. */
export function createProxyCertificate(folder: string) {
  return createCertificate(folder, 'proxy', ['DNS:tracker.example.org', 'DNS:vault.example.org'])
}

/** The example of a proxy for operators, in which only addresses and paths are changed. */
export function changedExample(name: string, changes: Readonly<Record<string, string>>): string {
  const example = readFileSync(new URL(`../../../../infra/proxies/${name}`, import.meta.url), 'utf8')
  return Object.entries(changes).reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`the example has no ${from}`)
    return before.replaceAll(from, to)
  }, example)
}

/**
 * Starts a proxy and returns when it answers plain HTTP with anything.
 *
 * @param options `folder` has its `*.log` files and is removed at the end
 */
export async function startProxy(options: {
  readonly command: readonly [string, ...string[]]
  readonly folder: string
  readonly port: number
  readonly certificate: string
}): Promise<Proxy & { readonly child: ChildProcess }> {
  const { command, folder, port, certificate } = options
  const [program, ...args] = command
  const env = { PATH: process.env['PATH'], HOME: folder }
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${program} did not start:\n${output}`)
    return fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
  })
  return {
    child,
    port,
    trusted: createSecureContext({ ca: readFileSync(certificate) }),
    logs: () => {
      const files = readdirSync(folder).filter((name) => name.endsWith('.log'))
      return output + files.map((name) => readFileSync(join(folder, name), 'utf8')).join('')
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
      removeTemporaryFolder(folder)
    },
  }
}
