import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, findProgram, freePort, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'

/** The replicas of each service, as `host:port`, with what nginx takes behind that, such as `down`. */
export type Upstreams = { readonly tracker?: readonly string[]; readonly vault?: readonly string[] }

/** An nginx in front of the services, at a port of the loopback. It knows them by the names of the example. */
export type Nginx = {
  readonly port: number
  /** Its certificate, which it signed itself, for `tracker.example.org` and `vault.example.org`. */
  readonly certificate: string
  /** Reads a configuration with other replicas. Requests under way are finished by the processes from before. */
  reload(upstreams: Upstreams): Promise<void>
  stop(): Promise<void>
}

const EXAMPLE = new URL('../../../../infra/nginx.conf.example', import.meta.url)

/** Starts nginx with the example for operators, of which only addresses and paths are changed. */
export async function startNginx(upstreams: Upstreams): Promise<Nginx> {
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
      ['listen 443 ssl', `listen 127.0.0.1:${String(port)} ssl`],
      ['server 127.0.0.1:6969 max_fails=0;', serversOf(replicas.tracker)],
      ['server 127.0.0.1:4200 max_fails=0;', serversOf(replicas.vault)],
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
    return fetch(`http://127.0.0.1:${String(port)}/`).then(
      () => true,
      () => false,
    )
  })
  return {
    port,
    certificate: readFileSync(certificate, 'utf8'),
    reload: async (replicas) => {
      configure(replicas)
      output = ''
      child.kill('SIGHUP')
      await eventually(() => output.includes('gracefully shutting down'))
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
      removeTemporaryFolder(folder)
    },
  }
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
