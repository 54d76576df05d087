// Carries out the commands of docs/operations.md, in their order, on containers that it starts and removes with their data.
//
//   node infra/run-operations.mjs           in a clone without .env, where no containers of the project run
//   node infra/run-operations.mjs --list    says what it would do
//
// It needs Docker with Compose (v2 or 1.29), Node and npm, aria2c, curl and openssl. The last line counts.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { capture, describeError, Fault } from '../packages/dev-env/src/processes/command.mjs'
import { asRunHere, blocksOf, commandsInSentences, NOT_RUN, REPLACED } from './lib/operations-page.mjs'
import { createProgress } from './lib/progress.mjs'
import { ROOT } from './lib/workspace.mjs'

/** An image may have to be built first. */
const TIMEOUT_MS = 20 * 60_000
const READY_MS = 120_000
const WRITTEN = ['.env', 'admin.password', 'admin.cookies', 'shop.key']

const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
const isPlugin = spawnSync('docker', ['compose', 'version']).status === 0
const compose = isPlugin ? 'docker compose' : 'docker-compose'
const step = createProgress()
const counts = { passed: 0, failed: 0, left: 0 }

/** @typedef {import('./lib/operations-page.mjs').Block} Block */

/**
 * What is tried after a block, besides that it ended with 0. By the title of the block.
 *
 * @type {Readonly<Record<string, { fact: string, script: string, ends?: number, prints?: RegExp }[]>>}
 */
const CHECKS = {
  'infra/smoke': [
    {
      fact: 'three more times it passes, and leaves nobody and nothing behind',
      script: `for i in 1 2 3; do infra/smoke; done
        docker compose exec -T postgres psql --username=postgres --tuples-only --no-align --dbname=tracker \\
          --command='select (select count(*) from users) + (select count(*) from torrents)'`,
      prints: /^0$/m,
    },
  ],
  'infra/restore vault "vault-$(date +%F).dump"': [
    {
      fact: 'a damaged dump is refused',
      script:
        'cp "vault-$(date +%F).dump" damaged.dump; truncate -s -200 damaged.dump; infra/restore vault damaged.dump',
      ends: 1,
      prints: /nothing was changed/,
    },
    {
      fact: 'a refused dump leaves no database behind',
      script: `rm damaged.dump
        docker compose exec -T postgres psql --username=postgres --tuples-only --no-align \\
          --command="select count(*) from pg_database where datname like '%\\_restored'"`,
      prints: /^0$/m,
    },
    { fact: 'git ignores dumps', script: 'git check-ignore "vault-$(date +%F).dump"' },
  ],
  'docker compose run --rm vault-audit prune --before 2026-01': [
    {
      fact: 'twice in a row works',
      script: 'docker compose run --rm vault-audit prune --before 2026-01',
      prints: /"dropped":\[\]/,
    },
    {
      fact: 'the month that runs is not dropped',
      script: 'docker compose run --rm vault-audit prune --before 9999-12',
      ends: 2,
      prints: /is not over/,
    },
    {
      fact: 'the month that runs is dropped where it is asked for, also twice',
      script: `for i in 1 2; do docker compose run --rm vault-audit prune --before 9999-12 --include-current; done
        docker compose exec -T vault node dist/commands/audit.command.js verify`,
      prints: /"intact":true/,
    },
  ],
}

/** Blocks after which no service runs. */
const STOPPED = ['docker compose down', 'docker compose down --volumes']

/** Runs a script as an operator's shell does; it ends at the first command that fails. @param {string} script */
async function shell(script) {
  const env = { ...process.env, CI: 'true' }
  return await capture('sh', ['-euc', asRunHere(script, compose)], { cwd: ROOT, env, timeoutMs: TIMEOUT_MS })
}

/** @param {string} label @param {() => Promise<void>} work */
async function attempt(label, work) {
  try {
    await step(label, work)
    counts.passed += 1
  } catch (error) {
    counts.failed += 1
    console.log(`\n${describeError(error)}\n`)
  }
}

/** Waits until both services are ready. */
async function untilReady() {
  const deadline = Date.now() + READY_MS
  for (const port of [4200, 6969])
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/ready`, { headers: { connection: 'close' } }).catch(
        () => undefined,
      )
      if (answer?.ok === true) break
      if (Date.now() > deadline) throw new Fault(`port ${port} was not ready within ${READY_MS / 1000} s`)
      await sleep(500)
    }
}

/** @param {Block} block */
async function carryOut({ title, text, line }) {
  await attempt(`${line}: ${title}`, async () => {
    const { code, output } = await shell(text)
    if (code !== 0) throw new Fault(`${text}\nended with ${code}:\n\n${output}`)
    if (!STOPPED.includes(title)) await untilReady()
  })
  for (const { fact, script, ends = 0, prints = /(?:)/ } of CHECKS[title] ?? [])
    await attempt(`     ${fact}`, async () => {
      const { code, output } = await shell(script)
      if (code !== ends || !prints.test(output)) throw new Fault(`${script}\nended with ${code}:\n\n${output}`)
    })
}

/** @param {Block} block */
function isRun({ language, title }) {
  return language === 'sh' && NOT_RUN[title] === undefined
}

function listWhatIsLeft() {
  const left = [
    ...blocksOf(page)
      .filter((block) => !isRun(block))
      .map(({ title }) => title),
    ...commandsInSentences(page),
  ]
  console.log('\nNot carried out:')
  for (const title of left.filter((each) => NOT_RUN[each] !== undefined)) {
    counts.left += 1
    console.log(`  ${title}\n      ${NOT_RUN[title]}`)
  }
  console.log('\nCarried out otherwise:')
  for (const [from, to, reason] of REPLACED) console.log(`  ${from}\n      as ${to}: ${reason}`)
}

async function main() {
  const blocks = blocksOf(page).filter(isRun)
  if (process.argv.includes('--list')) {
    for (const { title, line } of blocks) console.log(`${line}: ${title}`)
    listWhatIsLeft()
    return
  }
  for (const file of WRITTEN)
    if (existsSync(join(ROOT, file))) throw new Fault(`there is ${file} already: run it in a fresh clone`)
  const { output } = await capture('docker', ['volume', 'ls', '--quiet', '--filter', 'name=vault-and-tracker_'])
  if (output.trim() !== '')
    throw new Fault(`there are volumes of the project already, and they are not touched:\n${output}`)
  try {
    for (const block of blocks) await carryOut(block)
  } finally {
    if (existsSync(join(ROOT, '.env'))) await shell('docker compose down --volumes')
    for (const file of WRITTEN) rmSync(join(ROOT, file), { force: true })
    await shell('rm -f vault-*.dump tracker-*.dump damaged.dump')
  }
  listWhatIsLeft()
  console.log(`\n${counts.passed} carried out, ${counts.failed} failed, ${counts.left} left out`)
}

try {
  await main()
} catch (error) {
  counts.failed += 1
  console.log(`\n${describeError(error)}`)
}
process.exitCode = counts.failed === 0 ? 0 : 1
