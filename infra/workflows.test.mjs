// What the workflows have to have. Run with `node --test infra/workflows.test.mjs`.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TEST_PROGRAMS } from './lib/system-packages.mjs'

const root = join(import.meta.dirname, '..')
const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`)
const files = [...workflows, '.github/actions/setup/action.yml']

test('every action of somebody else is pinned by its commit', () => {
  for (const file of files)
    for (const [, action = ''] of read(file).matchAll(/uses: (\S+)/g))
      assert.match(action, /^(?:\.\/|[\w/-]+@[0-9a-f]{40}$)/, `${file}: ${action}`)
})

test('every workflow ends in time, gives no rights by default, and an older run of a pull request ends', () => {
  assert.ok(workflows.length >= 7)
  for (const file of workflows) {
    const text = read(file)
    assert.match(text, /^permissions: \{ contents: read \}$/m, file)
    assert.match(text, /^concurrency:\n {2}group: .*\n {2}cancel-in-progress: .*pull_request/m, file)
    assert.equal(text.match(/timeout-minutes: /g)?.length, text.match(/runs-on: /g)?.length, file)
  }
})

test('a workflow runs the tests of infra, of every package and of every service, and dependencies are cached', () => {
  const all = workflows.map(read).join('\n')
  for (const command of [
    'node --test infra/*.test.mjs',
    "pnpm --filter './packages/*' test",
    ...readdirSync(join(root, 'services')).map((name) => `pnpm --filter ${name} test`),
    'pnpm check',
  ])
    assert.ok(all.includes(`- run: ${command}\n`), command)
  assert.match(read('.github/actions/setup/action.yml'), /cache: pnpm|actions\/cache@/)
  assert.match(all, /github\/codeql-action\/analyze@/)
})

test('a workflow installs the programs that the tests of a service start', () => {
  const programs = TEST_PROGRAMS.map(({ debianPackage }) => debianPackage)
  for (const service of readdirSync(join(root, 'services'))) {
    const tests = join(root, 'services', service, 'tests')
    const sources = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.[mt]?js$|\.ts$/.test(name),
    )
    const text = sources.map((name) => readFileSync(join(tests, name), 'utf8')).join('\n')
    const started = programs.filter((name) => text.includes(`'${name}'`))
    const nginx = text.includes('startNginx(') ? ['nginx'] : []
    const installed =
      /apt-get install (?:--\S+ )*(.*)/.exec(read(`.github/workflows/${service}.yml`))?.[1]?.split(' ') ?? []
    for (const program of [...started, ...nginx])
      assert.ok(installed.includes(program) || ON_THE_RUNNER.has(program), `${service}: ${program}`)
  }
})

/** What the image of the runner has. */
const ON_THE_RUNNER = new Set(['chromium-headless-shell', 'openssl', 'curl', 'python3'])

/** @param {string} file from the repository */
function read(file) {
  return readFileSync(join(root, file), 'utf8')
}
