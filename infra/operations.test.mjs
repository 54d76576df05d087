// The commands of docs/operations.md. infra/run-operations.mjs runs them on containers.
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
import { blocksToRun, inTrial } from './lib/operations.mjs'

const root = join(import.meta.dirname, '..')
const blocks = blocksToRun(readFileSync(join(root, 'docs/operations.md'), 'utf8'))
/** @type {string[]} */
const folders = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

test('every block is correct shell, with either Compose', () => {
  assert.ok(blocks.length > 15)
  for (const { text, line } of blocks)
    for (const compose of ['docker compose', 'docker-compose']) {
      const { status, stderr } = spawnSync('sh', ['-n'], { input: inTrial(text, compose), encoding: 'utf8' })
      assert.equal(status, 0, `line ${line}: ${stderr}`)
    }
})

test('no block has a password, a token or a key on a command line', () => {
  // Assignments and pipes of the shell are on no command line.
  for (const { text, line } of blocks)
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
  for (const [name, input] of [
    ['ADMIN_TOKN', 'x'],
    ['ADMIN_TOKEN', 'a$b'],
    ['ADMIN_TOKEN', 'a b'],
    ['ADMIN_TOKEN', 'a\nVAULT_PORT=1\n'],
    ['a=b', 'x'],
  ]) {
    const { status, stderr } = set(String(name), String(input))
    assert.equal(status, 1, stderr)
  }
  assert.equal(readFileSync(file, 'utf8'), expected)
  assert.deepEqual(readdirSync(folder).sort(), ['.env', '.env.example', 'infra'])
})

/** Commands at which the Compose of these tests fails. */
for (const failing of ['pg_restore', 'stop', 'exchange', 'run', 'nothing'])
  test(`a restore that fails at ${failing} undoes its steps`, () => {
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
    // Databases by name, after all statements; `true` marks the original one.
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

/** Replaces docker: records its arguments, and fails at one command. */
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

/** A temporary folder with files of the repository. @param {...string} names of scripts in infra, or of files */
function folderWith(...names) {
  const folder = mkdtempSync(join(tmpdir(), 'operations-'))
  folders.push(folder)
  for (const name of names) {
    const file = name.startsWith('.') ? name : join('infra', name)
    cpSync(join(root, file), join(folder, file))
  }
  return folder
}
