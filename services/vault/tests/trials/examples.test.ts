import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort, requireProgram, temporaryFolder } from '@vault-and-tracker/dev-env'
import { parse } from 'yaml'
import { type OidcIssuer, startOidcIssuer } from '../support/oidc-issuer.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from '../support/vault.ts'

// The examples, with the commands of their READMEs.
const ROOT = new URL('../../../../', import.meta.url).pathname
const EXAMPLES = join(ROOT, 'examples')
const folder = temporaryFolder('examples')

let vault: TestVault
let issuer: OidcIssuer

beforeAll(async () => {
  await requireProgram('openssl')
  issuer = await startOidcIssuer()
  vault = await startVault({ OIDC_ALLOW_LOOPBACK: 'true' })
  writeFileSync(join(folder, 'demo.json'), JSON.stringify({ vault: { adminToken: ADMIN_TOKEN } }))
})

afterAll(async () => {
  await vault.stop()
  await issuer.stop()
})

/** The commands of a README, with the folder, the vault and the port of this test. */
function commandsOf(example: string, port = 8080): string {
  const page = readFileSync(join(EXAMPLES, example, 'README.md'), 'utf8')
  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands)
  expect(blocks.length).toBeGreaterThan(0)
  return blocks
    .join('')
    .replaceAll('http://127.0.0.1:4200', vault.url)
    .replaceAll('8080', String(port))
    .replaceAll('./.data/', `${folder}/`)
    .replaceAll('.data/', `${folder}/`)
}

/** Runs a pasted script, and returns its output. */
async function bash(script: string, env: NodeJS.ProcessEnv = {}, cwd = ROOT): Promise<{ out: string; err: string }> {
  // With a pipe as its input, bash would read the settings of a remote shell.
  const child = spawn('bash', ['-euc', script], {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (child.exitCode !== 0) throw new Error(`exit status ${String(child.exitCode)}:\n${err}`)
  return { out, err }
}

test('the Node service changes its key without a restart', async () => {
  const { out } = await bash(commandsOf('node-application', await freePort()))
  const signatures = out.match(/^[0-9a-f]{64}$/gm) ?? []
  // HMAC-SHA-256 of `hello`, by openssl.
  const expected = await bash(
    `for key in 'first key' 'second key'; do printf hello | openssl dgst -sha256 -hmac "$key" | cut -d' ' -f2; done`,
  )
  expect(`${signatures.join('\n')}\n`).toBe(expected.out)
})

test('the program of the container gets only its secrets', async () => {
  const commands = commandsOf('container').split('\n')
  const start = commands.findIndex((line) => line.startsWith('docker run'))
  // The Node example has run the same command.
  const isPacked = (line: string) => line.includes(' pack ') && commandsOf('node-application').includes(line)
  const beforeDocker = commands.slice(0, start).filter((line) => !line.startsWith('docker ') && !isPacked(line))
  const image = readFileSync(join(EXAMPLES, 'container/Dockerfile'), 'utf8')
  const argv = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(image)?.[1] ?? '') as string[]
  const command = [...argv('ENTRYPOINT'), ...argv('CMD')].map((part) => `'${part}'`).join(' ')
  const { out } = await bash(
    [...beforeDocker, 'cd examples/container', command.replace(/^'vault'/, '"$VAULT"')].join('\n'),
    {
      VAULT: join(EXAMPLES, 'node-application/node_modules/.bin/vault'),
    },
  )
  const page = readFileSync(join(EXAMPLES, 'container/README.md'), 'utf8')
  const [, printed = ''] = /It prints:\n\n```\n(.*?)```/s.exec(page) ?? []
  expect(printed).not.toBe('')
  expect(out.endsWith(printed)).toBe(true)
})

test('the workflow deploys with masked secrets and without a stored key', async () => {
  type Workflow = { env: Record<string, string>; jobs: { deploy: { steps: { run?: string; env?: object }[] } } }
  const page = readFileSync(join(EXAMPLES, 'github-workflow/deploy.yml'), 'utf8')
  expect(page).not.toContain('secrets.')
  const workflow = parse(page) as Workflow
  const bin = join(EXAMPLES, 'node-application/node_modules/.bin')
  const githubEnv = join(folder, 'github-env')
  const admin = { VAULT_URL: vault.url, VAULT_PROJECT: 'shop', VAULT_ADMIN_TOKEN: ADMIN_TOKEN }
  const path = { PATH: `${bin}:${process.env['PATH'] ?? ''}` }
  const trusting = commandsOf('github-workflow')
  await bash(
    `vault admin projects add shop --public-key "$(vault keygen --output shop.key)"
     printf %s 'canary-one' | VAULT_PRIVATE_KEY_FILE=shop.key vault set TOKEN
     ${trusting.replace('https://token.actions.githubusercontent.com', issuer.url)}`,
    { ...admin, ...path },
    folder,
  )
  for (const program of ['deploy', 'announce-release']) {
    writeFileSync(join(folder, program), `#!/bin/sh\nprintf '%s ' ${program} "$TOKEN" "\${VAULT_PRIVATE_KEY:-none}"\n`)
    chmodSync(join(folder, program), 0o755)
  }
  writeFileSync(githubEnv, '')
  const job = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request-token',
  }
  let [out, err] = ['', '']
  for (const step of workflow.jobs.deploy.steps) {
    // The Node example has installed it.
    if (step.run === undefined || step.run.startsWith('npm install --global @vault-and-tracker/')) continue
    const variables = [...readFileSync(githubEnv, 'utf8').matchAll(/^(\w+)<<(\w+)\n(.*?)\n\2$/gms)]
    const later = variables.map(([, name = '', , value = '']): [string, string] => [name, value])
    const env = { ...workflow.env, VAULT_URL: vault.url, ...path, ...job, GITHUB_ENV: githubEnv }
    const printed = await bash(step.run, { ...env, ...Object.fromEntries(later) }, folder)
    out += printed.out
    err += printed.err
  }
  expect(out).toBe('deploy canary-one none announce-release canary-one none ')
  expect(err).toContain('::add-mask::canary-one\n')
})
