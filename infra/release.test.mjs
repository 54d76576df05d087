// What a release consists of: versions, notes, files and the workflow. Run with `node --test infra/release.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { capture } from '../packages/dev-env/src/processes/command.mjs'
import { imageNames } from './lib/release.mjs'
import { currentVersion, repeatedVersions, setVersion } from './lib/version.mjs'
import { ROOT } from './lib/workspace.mjs'

const IMAGES = imageNames()
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
  for (const image of ['vault', 'tracker', 'vault-cli']) assert.ok(IMAGES.includes(image), image)
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

test('a tag is released only if it names the version, is described and has passed CI', async () => {
  const root = repository('1.2.3', '## 1.2.3 (2026-11-27)\n\n- News.\n')
  let passed = 1
  /** @type {string[]} */
  const requests = []
  const api = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.authorization}`)
    response.end(JSON.stringify({ total_count: passed }))
  })
  await once(api.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (api.address())
  const verify = (tag = 'v1.2.3') =>
    start(root, 'verify.mjs', [], { GITHUB_REF_NAME: tag, GITHUB_API_URL: `http://127.0.0.1:${port}` })
  try {
    assert.equal((await verify()).code, 0)
    assert.match(requests[0] ?? '', /^\/repos\/Owner\/name\/.*head_sha=0123abcd.*branch=main.* Bearer secret-token$/)
    assert.equal((await verify('v1.2.4')).code, 1)
    passed = 0
    assert.equal((await verify()).code, 1)
    passed = 1
    writeFileSync(join(root, 'CHANGELOG.md'), '## 1.2.30\n\n- Later.\n\n## 1.2.3-rc.1\n\n- Earlier.\n')
    assert.equal((await verify()).code, 1)
  } finally {
    api.close()
  }
})

test('the notes are the section of the version, with links that work at GitHub', async () => {
  const changelog =
    '# Changelog\n\n## 1.3.0\n\n- Later.\n\n## 1.2.3\n\n- A [page](docs/a.md#b), a [site](https://c.d).\n\n## 1.2.2\n'
  const { stdout } = await start(repository('1.2.3', changelog), 'notes.mjs')
  assert.equal(stdout, '- A [page](https://github.com/Owner/name/blob/v1.2.3/docs/a.md#b), a [site](https://c.d).\n')
})

test('images are joined from all architectures, and signed by digest', async () => {
  const root = repository('1.2.3')
  const digestOf = `digest() { printf 'sha256:'; printf %s "$1" | sha256sum | cut -d' ' -f1; }`
  const programs = {
    docker: `${digestOf}
      case $1 in login) [ "$(cat)" = secret-token ] ;; esac
      case $* in
        *' build '*)
          while [ "$1" != --target ]; do shift; done; target=$2
          while [ "$1" != --metadata-file ]; do shift; done
          printf '{"containerimage.digest":"%s"}' "$(digest "built $target")" >"$2" ;;
        *inspect*) printf '{"digest":"%s"}' "$(digest "joined $4")" ;;
      esac`,
    cosign: '',
  }
  const built = await start(root, 'images.mjs', ['build'], {}, programs)
  assert.equal(built.code, 0, built.output)
  for (const image of IMAGES) {
    const build = built.calls.find((call) => call.includes(` --target ${image} `)) ?? ''
    for (const part of ['type=sbom', 'type=provenance,mode=max', 'push-by-digest=true', 'REVISION=0123abcd'])
      assert.ok(build.includes(part), `${image}: ${part}`)
  }
  // One architecture alone would replace the other one.
  const alone = await start(root, 'images.mjs', ['publish'], {}, programs)
  assert.equal(alone.code, 1)
  assert.ok(!alone.calls.some((call) => call.startsWith('cosign')))

  cpSync(join(root, 'digests', `${process.arch}.json`), join(root, 'digests', 'other.json'))
  const published = await start(root, 'images.mjs', ['publish'], {}, programs)
  assert.equal(published.code, 0, published.output)
  for (const image of IMAGES) {
    const reference = `ghcr.io/owner/name/${image}`
    const digest = createHash('sha256').update(`joined ${reference}:1.2.3`).digest('hex')
    assert.ok(published.calls.includes(`cosign sign --yes ${reference}@sha256:${digest}`), image)
  }
  assert.doesNotMatch(built.calls.join('\n') + built.output + published.calls.join('\n'), /secret-token/)
})

test('packages are published with provenance, once, and early versions not by default', async () => {
  const programs = (/** @type {string} */ published) => ({
    npm: `case $* in 'view '*) printf %s '${published}' ;; esac`,
    npx: `while [ "$1" != --pack-destination ]; do shift; done; mkdir -p "$2"; touch "$2/packed.tgz"`,
  })
  const publishes = async (/** @type {string} */ version, /** @type {string} */ published) => {
    const { code, calls, output } = await start(repository(version), 'packages.mjs', [], {}, programs(published))
    assert.equal(code, 0, output)
    return calls.filter((call) => call.startsWith('npm publish'))
  }
  const [first = '', ...others] = await publishes('1.2.3', '')
  assert.match(first, /packed\.tgz --access public --tag latest --provenance$/)
  assert.equal(others.length, 1)
  assert.deepEqual(await publishes('1.2.3', '1.2.3'), [])
  assert.match((await publishes('1.2.3-rc.1', ''))[0] ?? '', /--tag next/)
})

test('the release has every file with its checksum, and is public only when it is complete', async () => {
  const root = repository('1.2.3', '## 1.2.3\n\n- News.\n')
  for (const file of ['docker-compose.yml', '.env.example']) cpSync(join(ROOT, file), join(root, file))
  mkdirSync(join(root, 'release'))
  writeFileSync(join(root, 'release/vault-linux-amd64'), 'the command')
  assert.equal((await start(root, 'assets.mjs')).code, 0)
  assert.equal((await start(root, 'assets.mjs')).code, 0)
  const sums = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(root, 'release') })
  assert.equal(sums.status, 0, sums.stderr.toString())
  const files = ['SHA256SUMS', 'docker-compose.yml', 'env.example', 'vault-linux-amd64']
  assert.deepEqual(readdirSync(join(root, 'release')).toSorted(), files)
  assert.match(
    readFileSync(join(root, 'release/docker-compose.yml'), 'utf8'),
    /ghcr\.io\/owner\/name\/?.*\/vault:1\.2\.3/,
  )

  const cosign = `touch "$4"`
  const created = await start(root, 'publish.mjs', [], {}, { cosign, gh: `[ "$2" != view ]` })
  assert.equal(created.code, 0, created.output)
  const steps = created.calls.map((call) => call.split(' ').slice(0, 3).join(' '))
  assert.deepEqual(steps, [
    'cosign sign-blob --yes',
    ...['view', 'create', 'upload', 'edit'].map((step) => `gh release ${step}`),
  ])
  assert.match(created.calls[2] ?? '', / --draft /)
  for (const file of [...files, 'SHA256SUMS.sigstore.json'])
    assert.ok(created.calls[3]?.split(' ').includes(`release/${file}`), file)
  const repeated = await start(root, 'publish.mjs', [], {}, { cosign, gh: '' })
  assert.ok(!repeated.calls.some((call) => call.startsWith('gh release create')))
})

/**
 * A repository of another version that contains only the scripts of releases.
 *
 * @param {string} version
 * @param {string} [changelog]
 */
function repository(version, changelog = '') {
  const root = mkdtempSync(join(folder, 'repository-'))
  for (const path of ['infra/lib', 'infra/release', 'infra/Dockerfile', 'packages/dev-env/src/processes'])
    cpSync(join(ROOT, path), join(root, path), { recursive: true })
  writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', version, packageManager: 'pnpm@1.0.0' }))
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  return root
}

/**
 * Runs a script of a release with the variables of a workflow, and programs that record how they are called.
 *
 * @param {string} root
 * @param {string} script
 * @param {readonly string[]} [args]
 * @param {Record<string, string>} [variables]
 * @param {Record<string, string>} [programs] what each does, in sh
 */
async function start(root, script, args = [], variables = {}, programs = {}) {
  const bin = mkdtempSync(join(folder, 'bin-'))
  const log = join(bin, 'calls')
  writeFileSync(log, '')
  for (const [name, body] of Object.entries(programs)) {
    const text = `#!/bin/sh\nset -eu\nprintf '%s\\n' "${name} $*" >>'${log}'\n${body}\n`
    writeFileSync(join(bin, name), text, { mode: 0o755 })
  }
  const env = {
    ...{
      PATH: `${bin}:/usr/bin:/bin`,
      GITHUB_REPOSITORY: 'Owner/name',
      GITHUB_SHA: '0123abcd',
      GITHUB_ACTOR: 'someone',
    },
    ...{ GITHUB_SERVER_URL: 'https://github.com', GITHUB_TOKEN: 'secret-token' },
    ...variables,
  }
  const { code, stdout, output } = await capture(process.execPath, [`infra/release/${script}`, ...args], {
    cwd: root,
    env,
  })
  return { code, stdout, output, calls: readFileSync(log, 'utf8').split('\n').filter(Boolean) }
}

/** @param {string} file from the repository */
function read(file) {
  return readFileSync(join(ROOT, file), 'utf8')
}
