import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../postgres/temporary-folder.ts'
import { freePort } from '../processes/ports.ts'
import { requireProgram } from '../processes/programs.mjs'
import { changedExample, createProxyCertificate, type Proxy, startProxy, type Upstreams } from './proxy.ts'

/** Starts Caddy with the example for operators. */
export async function startCaddy({ tracker = ['127.0.0.1:9'], vault = ['127.0.0.1:9'] }: Upstreams): Promise<Proxy> {
  const program = await requireProgram('caddy')
  const folder = temporaryFolder('caddy')
  const port = await freePort()
  const { certificate, key } = await createProxyCertificate(folder)
  const config = join(folder, 'Caddyfile')
  const site = (name: string): string => `https://${name}:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`
  const text = changedExample('Caddyfile', {
    '{\n\tlog {': `{\n\tadmin off\n\tauto_https off\n\tlog {`,
    'tracker.example.org {': site('tracker.example.org'),
    'vault.example.org {': site('vault.example.org'),
    '127.0.0.1:6969': tracker.join(' '),
    '127.0.0.1:4200': vault.join(' '),
  })
  writeFileSync(config, text)
  const command = [program, 'run', '--adapter', 'caddyfile', '--config', config] as const
  return await startProxy({ command, folder, port, certificate })
}
