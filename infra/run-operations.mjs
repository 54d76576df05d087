// Runs the commands of docs/operations.md and docs/upgrade.md in their order, on containers that it starts and removes with their data.
//
//   node infra/run-operations.mjs           in a clone without .env, while no containers of the project run
//   node infra/run-operations.mjs --list    lists the commands
//
// Needs Docker with Compose (v2 or 1.29), Node, npm, aria2c, curl and openssl. The last line counts.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { capture, describeError, Fault } from '../packages/dev-env/src/processes/command.mjs'
import { blocksToRun, inTrial } from './lib/operations.mjs'
import { createProgress } from './lib/progress.mjs'
import { ROOT } from './lib/workspace.mjs'

/** An image may have to be built first. */
const TIMEOUT_MS = 20 * 60_000
const READY_MS = 120_000
const WRITTEN = ['.env', 'shop.key', 'backup.key']
/** Blocks after which no service is running. */
const STOPPED = ['docker compose down', 'docker compose down --volumes']

/**
 * Checks after a block, by the title of the block.
 *
 * @type {Readonly<Record<string, readonly { fact: string, script: string, ends?: number, prints?: RegExp }[]>>}
 */
const CHECKS = {
  'infra/smoke': [
    {
      fact: 'it passes again and leaves no user or torrent behind',
      script: `infra/smoke
        docker compose exec -T postgres psql --username=postgres --tuples-only --no-align --dbname=tracker \\
          --command='select (select count(*) from users) + (select count(*) from torrents)'`,
      prints: /^0$/m,
    },
    {
      fact: 'the first administrator can still be created',
      script: 'curl --silent --show-error --fail http://localhost:6969/api/site',
      prints: /"awaitsSetup":true/,
    },
  ],
  'infra/restore vault vault.dump.age backup.key': [
    {
      fact: 'a damaged backup changes nothing',
      script: 'head -c 2000 vault.dump.age >damaged.dump.age; infra/restore vault damaged.dump.age backup.key',
      ends: 1,
      prints: /nothing was changed/,
    },
    {
      fact: 'git ignores backups and their key',
      script: 'git check-ignore vault.dump.age && git check-ignore backup.key',
    },
  ],
  'docker compose run --rm vault-audit prune --before 2026-01': [
    {
      fact: 'the current month is dropped only on request',
      script: 'docker compose run --rm vault-audit prune --before 9999-12',
      ends: 2,
    },
    {
      fact: 'the audit log is intact after the current month was dropped',
      script: `docker compose run --rm vault-audit prune --before 9999-12 --include-current
        docker compose exec -T vault node dist/commands/audit.command.js verify`,
      prints: /"intact":true/,
    },
  ],
}

const [operations, upgrade] = ['operations.md', 'upgrade.md'].map((page) =>
  blocksToRun(readFileSync(join(ROOT, 'docs', page), 'utf8')),
)
// Before the containers are stopped for good.
const blocks = (operations ?? []).toSpliced(-STOPPED.length, 0, ...(upgrade ?? []))
const compose = spawnSync('docker', ['compose', 'version']).status === 0 ? 'docker compose' : 'docker-compose'
const step = createProgress()
const counts = { passed: 0, failed: 0 }

/** Runs a script like an operator's shell, up to the first command that fails. @param {string} script */
async function shell(script) {
  const env = { ...process.env, CI: 'true' }
  return await capture('sh', ['-euc', inTrial(script, compose)], { cwd: ROOT, env, timeoutMs: TIMEOUT_MS })
}

/** @param {string} label @param {string} script @param {{ ends?: number, prints?: RegExp, isReady?: boolean }} expected */
async function attempt(label, script, { ends = 0, prints = /(?:)/, isReady = true }) {
  try {
    await step(label, async () => {
      const { code, output } = await shell(script)
      if (code !== ends || !prints.test(output)) throw new Fault(`${script}\nended with ${code}:\n\n${output}`)
      if (isReady) await untilReady()
    })
    counts.passed += 1
  } catch (error) {
    counts.failed += 1
    console.log(`\n${describeError(error)}\n`)
  }
}

async function untilReady() {
  const deadline = Date.now() + READY_MS
  for (const port of [4200, 6969])
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/ready`, {
        headers: { connection: 'close' },
        signal: AbortSignal.timeout(5_000),
      }).catch(() => undefined)
      if (answer?.ok === true) break
      if (Date.now() > deadline) throw new Fault(`Port ${port} was not ready within ${READY_MS / 1000} s.`)
      await sleep(500)
    }
}

async function runAll() {
  for (const file of WRITTEN)
    if (existsSync(join(ROOT, file))) throw new Fault(`${file} exists already. Run this in a fresh clone.`)
  const { output } = await capture('docker', ['volume', 'ls', '--quiet', '--filter', 'name=vault-and-tracker_'])
  if (output.trim() !== '') throw new Fault(`Volumes of the project exist already and are not touched:\n${output}`)
  try {
    for (const { title, text, line } of blocks) {
      await attempt(`${line}: ${title}`, text, { isReady: !STOPPED.includes(title) })
      for (const { fact, script, ...expected } of CHECKS[title] ?? []) await attempt(`     ${fact}`, script, expected)
    }
  } finally {
    if (existsSync(join(ROOT, '.env'))) await shell('docker compose down --volumes')
    for (const file of WRITTEN) rmSync(join(ROOT, file), { force: true })
    await shell('rm -f ./*.dump.age ./*-upgrade.dump')
  }
  console.log(`\n${counts.passed} passed, ${counts.failed} failed`)
}

if (process.argv.includes('--list')) for (const { title, line } of blocks) console.log(`${line}: ${title}`)
else
  await runAll().catch((/** @type {unknown} */ error) => {
    counts.failed += 1
    console.log(`\n${describeError(error)}`)
  })
process.exitCode = counts.failed === 0 ? 0 : 1
