// What infra/run-operations.mjs carries out of docs/operations.md. Run with `node --test infra/operations.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { asRunHere, blocksOf, commandsInSentences, NOT_RUN, REPLACED } from './lib/operations-page.mjs'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
const blocks = blocksOf(page)
const isRun = (/** @type {import('./lib/operations-page.mjs').Block} */ { language, title }) =>
  language === 'sh' && NOT_RUN[title] === undefined
/** @type {string[]} */
const folders = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

test('every block of the page is carried out, or named with the reason why not', () => {
  assert.ok(blocks.filter(isRun).length > 20)
  for (const block of blocks) assert.ok(isRun(block) || NOT_RUN[block.title], `line ${block.line}: ${block.title}`)
  const titles = blocks.map(({ title, language }) => `${language} ${title}`)
  assert.ok(titles.includes('sh docker compose down --volumes'))
})

test('every command in a sentence is part of a block that is carried out, or named with the reason why not', () => {
  const carriedOut = blocks.filter(isRun).map(({ text }) => text)
  const commands = commandsInSentences(page)
  assert.ok(commands.length > 5)
  for (const command of commands)
    assert.ok(NOT_RUN[command] ?? carriedOut.some((text) => text.includes(command)), `\`${command}\``)
})

test('nothing is named that is not on the page', () => {
  const named = [...blocks.map(({ title }) => title), ...commandsInSentences(page)]
  for (const title of Object.keys(NOT_RUN)) assert.ok(named.includes(title), title)
  for (const [from] of REPLACED)
    assert.ok(
      blocks.some(({ text }) => text.includes(from)),
      from,
    )
})

test('every block is correct shell, with either Compose', () => {
  for (const { text, line } of blocks.filter(isRun))
    for (const compose of ['docker compose', 'docker-compose']) {
      const { status, stderr } = spawnSync('sh', ['-n'], { input: asRunHere(text, compose), encoding: 'utf8' })
      assert.equal(status, 0, `line ${line}: ${stderr}`)
    }
})

test('no block has a password, a token or a key on a command line', () => {
  // What a shell assigns or pipes is on none; what a program gets as an argument is.
  for (const { text, line } of blocks.filter(isRun))
    assert.doesNotMatch(
      text,
      /(?:postgres|redis):\/\/|--env "?\w*(?:PASSWORD|TOKEN|URL)|--password[= ](?!stdin)/,
      String(line),
    )
})

test('set-env changes one variable, keeps the others and the mode, and takes no value that .env does not allow', () => {
  const folder = folderWith('set-env', '.env.example')
  const file = join(folder, '.env')
  writeFileSync(file, 'ADMIN_TOKEN=old\n# a comment\nVAULT_PORT=4200\n', { mode: 0o600 })
  const set = (/** @type {string} */ name, /** @type {string} */ input) =>
    spawnSync('sh', ['infra/set-env', name], { cwd: folder, input, encoding: 'utf8' })
  assert.equal(set('ADMIN_TOKEN', 'new/+=value\n').status, 0)
  assert.equal(set('ADMIN_TOKEN_PREVIOUS', '').status, 0)
  const expected = '# a comment\nVAULT_PORT=4200\nADMIN_TOKEN=new/+=value\nADMIN_TOKEN_PREVIOUS=\n'
  assert.equal(readFileSync(file, 'utf8'), expected)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  for (const [name, input, message] of [
    ['ADMIN_TOKN', 'x', /not a variable of \.env\.example/],
    ['ADMIN_TOKEN', 'a$b', /characters/],
    ['ADMIN_TOKEN', 'a b', /characters/],
    ['ADMIN_TOKEN', 'a\nVAULT_PORT=1\n', /more than one line/],
    ['a=b', 'x', /not the name of a variable/],
  ]) {
    const { status, stderr } = set(String(name), String(input))
    assert.equal(status, 1, stderr)
    assert.match(stderr, /** @type {RegExp} */ (message))
  }
  assert.equal(readFileSync(file, 'utf8'), expected)
  assert.deepEqual(readdirSync(folder).sort(), ['.env', '.env.example', 'infra'])
})

/** What a Compose of the tests fails at, and what restore has done then. */
for (const failing of ['pg_restore', 'stop', 'exchange', 'run', 'nothing'])
  test(`a restore that fails at ${failing} leaves nothing behind`, () => {
    const folder = folderWith('restore')
    const log = join(folder, 'log')
    writeFileSync(join(folder, 'vault.dump'), 'a dump')
    writeFileSync(join(folder, 'bin-docker'), DOCKER)
    const bin = join(folder, 'bin')
    cpSync(join(folder, 'bin-docker'), join(bin, 'docker'))
    chmodSync(join(bin, 'docker'), 0o755)
    const env = { PATH: `${bin}:${process.env['PATH']}`, LOG: log, FAILING: failing }
    const { status, stderr } = spawnSync('sh', ['infra/restore', 'vault', 'vault.dump'], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    const done = existsSync(log) ? readFileSync(log, 'utf8') : ''
    // Databases by name, after all statements; `true` is the one that was there before.
    const databases = new Map([['vault', true]])
    for (const [, created, dropped, from, to] of done.matchAll(
      /^CREATE DATABASE (\w+)|^.*DROP DATABASE IF EXISTS (\w+)|^ALTER DATABASE (\w+) RENAME TO (\w+)/gm,
    )) {
      if (created) databases.set(created, false)
      if (dropped) databases.delete(dropped)
      if (from && to) {
        databases.set(to, databases.get(from) ?? false)
        databases.delete(from)
      }
    }
    const services = [...done.matchAll(/^compose (stop|start) vault$/gm)].map(([, verb]) => verb)
    if (failing === 'nothing') {
      assert.equal(status, 0, stderr)
      assert.equal(databases.get('vault'), false)
      assert.equal(databases.size, 2)
    } else {
      assert.equal(status, 1)
      assert.match(stderr, /could not be restored; nothing was changed/)
      assert.deepEqual([...databases], [['vault', true]])
    }
    assert.ok(services.length === 0 || services.at(-1) === 'start')
  })

/** Stands for docker: writes down what it is asked, and fails where it is told to. */
const DOCKER = `#!/bin/sh
[ "$1 $2" = "compose version" ] && exit 0
shift
input=
case "$*" in *psql*) input=$(cat) ;; esac
case $FAILING in
  exchange) case $input in *RENAME*) [ -e "$LOG.failed" ] || { : >"$LOG.failed"; exit 1; } ;; esac ;;
  *) case "$*" in *"$FAILING"*) exit 1 ;; esac ;;
esac
printf 'compose %s\\n%s\\n' "$*" "$input" >>"$LOG"
`

/** A folder of its own with files of the repository. @param {...string} names of scripts in infra, or of files */
function folderWith(...names) {
  const folder = mkdtempSync(join(tmpdir(), 'operations-'))
  folders.push(folder)
  for (const name of names) {
    const file = name.startsWith('.') ? name : join('infra', name)
    cpSync(join(root, file), join(folder, file))
  }
  return folder
}
