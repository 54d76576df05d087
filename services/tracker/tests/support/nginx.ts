import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findProgram, freePort } from '@vault-and-tracker/dev-env'

/** An nginx in front of a tracker, at a port of the loopback. */
export type Nginx = {
  readonly port: number
  /** Its certificate, which it signed itself. */
  readonly certificate: string
  stop(): Promise<void>
}

const EXAMPLE = new URL('../../../../infra/nginx.conf.example', import.meta.url)

/** Starts nginx with the example for operators, of which only the addresses and the paths are changed. */
export async function startNginx(folder: string, trackerUrl: string): Promise<Nginx> {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=tracker.example.org', '-days', '1']
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...newKey, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  const changes = [
    ['listen 443 ssl', `listen 127.0.0.1:${String(port)} ssl`],
    ['127.0.0.1:6969', new URL(trackerUrl).host],
    ['/etc/nginx/tls/fullchain.pem', certificate],
    ['/etc/nginx/tls/privkey.pem', key],
  ] as const
  const site = changes.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`the example has no ${from}`)
      return text.replace(from, to)
    },
    readFileSync(EXAMPLE, 'utf8'),
  )
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr;\nevents {}\nhttp {\n${paths.join('\n')}\n${site}}\n`,
  )
  const child = spawn(findProgram('nginx') ?? 'nginx', ['-e', 'stderr', '-p', folder, '-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  for (let i = 0; ; i++) {
    // Whatever it answers to plain HTTP, it runs.
    const answered = await fetch(`http://127.0.0.1:${String(port)}/`).then(
      () => true,
      () => false,
    )
    if (answered) break
    if (child.exitCode !== null || i > 200) throw new Error(`nginx did not start:\n${output}`)
    await sleep(50)
  }
  return {
    port,
    certificate: readFileSync(certificate, 'utf8'),
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}
