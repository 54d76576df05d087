// How long `vault run` takes before a program starts, beside Node alone. Prints one table. See docs/performance.md.
// Usage: pnpm build && pnpm --filter vault bench:command [runs of each]
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createProject, startServers, startVault } from './vault.ts'

const CLI = fileURLToPath(new URL('../../../packages/vault-client/dist/cli.js', import.meta.url))
const runs = Number(process.argv[2] ?? 20)

const servers = await startServers()
const vault = await startVault(servers)
try {
  const { project, privateKey } = await createProject(vault, 'bench', 20)
  const keyFile = join(servers.folder, 'bench.key')
  writeFileSync(keyFile, privateKey, { mode: 0o600 })
  const env = {
    ...{ PATH: process.env['PATH'], HOME: servers.folder },
    ...{ VAULT_URL: vault.url, VAULT_PROJECT: project, VAULT_PRIVATE_KEY_FILE: keyFile },
  }
  const commands = [
    { name: '`node -e 0`', args: ['-e', '0'] },
    { name: '`vault --version`', args: [CLI, '--version'] },
    { name: '`vault run -- true`', args: [CLI, 'run', '--', 'true'] },
  ].map((command) => ({ ...command, times: [] as number[] }))
  for (let i = 0; i < runs; i++)
    for (const { args, times } of commands) {
      const started = performance.now()
      const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
      times.push(performance.now() - started)
      if (status !== 0) throw new Error(stderr)
    }
  console.log('| command | median ms | slowest ms | more than Node alone, median ms |')
  console.log('|---|---:|---:|---:|')
  const medianOf = (times: readonly number[]): number =>
    times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN
  const alone = medianOf(commands[0]?.times ?? [])
  for (const { name, times } of commands) {
    const [median, slowest] = [medianOf(times), Math.max(...times)]
    console.log(`| ${name} | ${median.toFixed(0)} | ${slowest.toFixed(0)} | ${(median - alone).toFixed(0)} |`)
  }
} finally {
  await vault.stop()
  await servers.stop()
}
