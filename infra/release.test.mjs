// What a release consists of: versions, notes, files and the workflow. Run with `node --test infra/release.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { currentVersion, repeatedVersions, setVersion } from './lib/version.mjs'
import { ROOT } from './lib/workspace.mjs'

/** The images of a release, which are targets of infra/Dockerfile. */
const IMAGES = ['vault', 'tracker', 'vault-cli']

const folder = mkdtempSync(join(tmpdir(), 'release-test-'))
after(() => rmSync(folder, { recursive: true }))

test('everything that is released has the version of package.json', () => {
  const version = currentVersion()
  const repeated = repeatedVersions()
  assert.ok(repeated.length > 15)
  for (const each of repeated) assert.equal(each.version, version, each.file)
  const { stdout } = spawnSync(process.execPath, ['packages/vault-client/dist/cli.js', '--version'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  assert.equal(stdout, `${version}\n`)
})

test('every released image is labelled with its version, commit and source', () => {
  const stages = [...read('infra/Dockerfile').matchAll(/^FROM (\S+) AS (\S+)\n(.*?)(?=^FROM |(?![^]))/gms)]
  const bodies = new Map(stages.map(([, from = '', name = '', body = '']) => [name, { from, body }]))
  for (const image of IMAGES) {
    let [text, name] = ['', image]
    for (let stage = bodies.get(name); stage !== undefined; stage = bodies.get(name)) {
      text += stage.body
      name = stage.from
    }
    assert.match(text, /^ARG VERSION$/m, image)
    for (const [label, value] of [
      ['version', '${VERSION}'],
      ['revision', '${REVISION}'],
      ['source', 'https://github.com/vault-and-tracker/vault-and-tracker'],
      ['title', image],
    ])
      assert.ok(text.includes(`org.opencontainers.image.${label}="${value}"`), `${image}: ${label}`)
  }
})

test('a new version is set everywhere, and nothing else changes', () => {
  const copy = join(folder, 'version')
  const files = new Set(repeatedVersions().map(({ file }) => file))
  mkdirSync(join(copy, 'docs'), { recursive: true })
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  const old = currentVersion()
  setVersion('12.3.4-rc.1', copy)
  assert.equal(currentVersion(copy), '12.3.4-rc.1')
  for (const { file, version } of repeatedVersions(copy)) assert.equal(version, '12.3.4-rc.1', file)
  setVersion(old, copy)
  for (const file of files) assert.equal(readFileSync(join(copy, file), 'utf8'), read(file), file)
  assert.throws(() => setVersion('v1.2', copy), /is not a version/)
})

/** @param {string} file from the repository */
function read(file) {
  return readFileSync(join(ROOT, file), 'utf8')
}
