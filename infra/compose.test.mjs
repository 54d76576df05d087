// Checks of files that containers rely on, without containers. Run with `node --test infra/compose.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '..')
const compose = read('docker-compose.yml')
const example = variables(read('.env.example'))
/** @type {string[]} */
const folders = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

const SECRET = /PASSWORD|TOKEN|KEYRING/
/** Secrets of optional features. */
const OPTIONAL_SECRETS = ['ADMIN_TOKEN_PREVIOUS', 'TRANSIT_TOKEN']
/** Every `${NAME…}` of the compose file: its name and what follows it, such as `:-512mb` or `:?run infra/make-env`. */
const references = [...compose.matchAll(/\$\{([A-Z_]+)([^}]*)\}/g)].map(([, name = '', rest = '']) => ({ name, rest }))

test('no secret has a default in compose, and a missing one names the remedy', () => {
  const secrets = references.filter(({ name }) => SECRET.test(name))
  assert.ok(secrets.length >= 12)
  for (const { name, rest } of secrets)
    assert.equal(rest, OPTIONAL_SECRETS.includes(name) ? ':-' : ':?run infra/make-env', name)
})

test('no secret is written into the compose files', () => {
  for (const file of [compose, released()]) {
    for (const [, value = ''] of file.matchAll(/(?:PASSWORD|TOKEN|KEYRING\w*|AUTH): (.*)/g))
      assert.match(value, /^\$\{/)
    for (const [, password = ''] of file.matchAll(/\w+:\/\/\w*:([^@\n]*)@/g)) assert.match(password, /^\$\{/)
  }
})

test('the compose file of a release runs published images of this version, and needs no other file', () => {
  /** @type {{ version: string }} */
  const { version } = JSON.parse(read('package.json'))
  const text = released({ GITHUB_REPOSITORY: 'Some-One/Fork' })
  const [file, source] = [text, compose].map((each) => composeFile(each))
  assert.ok(file && source)
  assert.deepEqual(Object.keys(file.services), Object.keys(source.services))
  for (const [name, { image, ...service }] of Object.entries(file.services)) {
    const [, tag] = /^\$\{IMAGE_PREFIX:-ghcr\.io\/some-one\/fork\}\/[a-z-]+:(.*)$/.exec(image) ?? []
    if (tag === undefined) assert.match(image, /^\$\{(?:POSTGRES|REDIS)_IMAGE:-[a-z/]+:\d+\}$/, name)
    else assert.equal(tag, version, name)
    for (const mount of service.volumes ?? []) assert.ok((mount.split(':')[0] ?? '') in file.volumes, mount)
    for (const key of ['build', 'configs', 'secrets', 'env_file', 'extends'])
      assert.ok(!(key in service), `${name}: ${key}`)
  }
  assert.ok(!('configs' in file || 'secrets' in file))
  assert.doesNotMatch(text, /infra\/|pnpm/)
})

test('the override for IRC publishes the port and mounts the certificate that it sets', () => {
  const text = read('infra/irc.override.yml')
  for (const [, name = ''] of text.matchAll(/\$\{([A-Z_]+)/g)) assert.ok(name in example, name)
  /** @type {{ services: Record<string, { environment: Record<string, string>, ports: string[], volumes: string[] }> }} */
  const { services } = parse(text)
  assert.deepEqual(Object.keys(services), ['tracker'])
  const { environment = {}, ports = [], volumes = [] } = services['tracker'] ?? {}
  const filled = ports.map((port) => port.replaceAll(/\$\{IRC_PORT:\?[^}]*\}/g, '6697'))
  assert.deepEqual(filled, ['6697:6697'])
  const [, folder = ''] = volumes[0]?.split(':') ?? []
  assert.deepEqual(Object.keys(environment).sort(), ['IRC_TLS_CERT', 'IRC_TLS_KEY'])
  for (const [name, file] of Object.entries(environment)) {
    assert.ok(compose.includes(`\n      ${name}: `), name)
    assert.ok(file.startsWith(`${folder}/`), name)
  }
})

test('every container is read-only, with limits, and without new privileges', () => {
  for (const [name, service] of Object.entries(composeFile(released()).services)) {
    assert.equal(service['read_only'], true, name)
    assert.ok(Number(service['pids_limit']) > 0, name)
    assert.deepEqual(service['security_opt'], ['no-new-privileges:true'], name)
    assert.deepEqual(service['cap_drop'], ['ALL'], name)
    assert.ok(service['restart'] === 'no' || service['mem_limit'], name)
  }
})

test('.env.example describes every variable of the compose file, and contains no secret', () => {
  for (const { name } of references) assert.ok(name in example, `${name} is missing in .env.example`)
  for (const [name, value] of Object.entries(example)) if (SECRET.test(name)) assert.equal(value, '', name)
})

test('every program that compose, the images and the smoke test run exists', () => {
  const files = ['docker-compose.yml', 'infra/Dockerfile', 'packages/dev-env/src/smoke/tracker.ts']
  const programs = files.flatMap((file) =>
    [...read(file).matchAll(/['"]dist\/([\w./-]+)\.js['"]/g)].map(([, name]) => name),
  )
  assert.ok(programs.length >= 3)
  for (const program of programs)
    assert.ok(
      ['tracker', 'vault'].some((service) => existsSync(join(root, 'services', service, 'src', `${program}.ts`))),
      `there is no ${program}.ts`,
    )
})

test('the images are built with the manifest of every package and service', () => {
  const dockerfile = read('infra/Dockerfile')
  for (const parent of ['packages', 'services'])
    for (const name of readdirSync(join(root, parent)))
      assert.ok(dockerfile.includes(`COPY ${parent}/${name}/package.json ${parent}/${name}/\n`), `${parent}/${name}`)
  assert.doesNotMatch(dockerfile, /^# *syntax=/m)
})

test('the image of a service contains every package that the service needs', () => {
  for (const service of ['vault', 'tracker']) {
    const stage = read('infra/Dockerfile').split(`FROM service AS ${service}\n`)[1]?.split('\nFROM ')[0] ?? ''
    const needed = new Set([`services/${service}`])
    for (const folder of needed) {
      /** @type {{ dependencies?: Record<string, string> }} */
      const { dependencies = {} } = JSON.parse(read(`${folder}/package.json`))
      for (const name of Object.keys(dependencies))
        if (name.startsWith('@vault-and-tracker/')) needed.add(name.replace('@vault-and-tracker/', 'packages/'))
      assert.ok(stage.includes(`COPY --from=${service}-dependencies /app/${folder} /app/${folder}\n`), folder)
      assert.ok(stage.includes(`COPY --from=build /app/${folder}/dist /app/${folder}/dist\n`), `${folder}/dist`)
    }
    const copies = stage.split('\n').filter((line) => line.startsWith('COPY '))
    assert.deepEqual(copies, [...new Set(copies)], `${service} copies a folder twice`)
  }
})

test('the image of a service gives Node the arguments that its package does', () => {
  for (const service of ['vault', 'tracker']) {
    const stage = read('infra/Dockerfile').split(`FROM service AS ${service}\n`)[1]?.split('\nFROM ')[0] ?? ''
    const [, command = '[]'] = stage.match(/^CMD (.*)$/m) ?? []
    /** @type {string[]} */
    const words = JSON.parse(command)
    /** @type {{ scripts: { start: string } }} */
    const { scripts } = JSON.parse(read(`services/${service}/package.json`))
    assert.equal(words.join(' '), scripts.start)
  }
})

test('make-env generates every secret, in a file for its owner, without special characters of .env parsers', () => {
  const [first, second] = [makeEnv(), makeEnv()]
  assert.equal(first.status, 0, first.stderr)
  assert.equal(statSync(first.path).mode & 0o777, 0o600)
  const [values, others] = [variables(first.text()), variables(second.text())]
  for (const { name } of references.filter(({ rest }) => rest.startsWith(':?'))) {
    assert.match(values[name] ?? '', /^[A-Za-z0-9+/=:._-]+$/, name)
    if (SECRET.test(name) && name !== 'VAULT_KEYRING_ACTIVE') assert.notEqual(values[name], others[name], name)
  }
  assert.match(values['ADMIN_TOKEN'] ?? '', /^[0-9a-f]{64}$/)
  const [id, key = ''] = values['VAULT_KEYRING']?.split(':') ?? []
  assert.equal(id, values['VAULT_KEYRING_ACTIVE'])
  assert.equal(Buffer.from(key, 'base64').length, 32)
})

test('make-env works with node without openssl, and fails without both', () => {
  const tools = ['basename', 'cat', 'date', 'dirname', 'grep', 'sh']
  const without = makeEnv({ PATH: folderOf([...tools, 'node']) })
  assert.equal(without.status, 0, without.stderr)
  const values = variables(without.text())
  assert.match(values['ADMIN_TOKEN'] ?? '', /^[0-9a-f]{64}$/)
  assert.equal(Buffer.from(values['VAULT_KEYRING']?.split(':')[1] ?? '', 'base64').length, 32)

  const neither = makeEnv({ PATH: folderOf(tools) })
  assert.equal(neither.status, 1)
  assert.match(neither.stderr, /neither openssl nor node is installed/)
})

test('make-env never overwrites', () => {
  const { folder, path, text } = makeEnv()
  const before = text()
  const again = spawnSync('sh', ['infra/make-env'], { cwd: folder, encoding: 'utf8' })
  assert.equal(again.status, 1)
  assert.match(again.stderr, /\.env/)
  assert.equal(readFileSync(path, 'utf8'), before)
})

test('make-env allows private peers on a loopback address only', () => {
  const allows = (/** @type {string} */ url) => variables(makeEnv({ url }).text())['ALLOW_PRIVATE_PEERS']
  for (const url of ['http://localhost', 'http://localhost:6969/', 'http://127.0.0.1:80', 'http://[::1]:6969'])
    assert.equal(allows(url), 'true', url)
  for (const url of ['https://tracker.example.org', 'http://localhost.example.org', 'http://127.0.0.1.example.org'])
    assert.equal(allows(url), 'false', url)
})

test('make-env refuses invalid URLs, and characters that .env does not allow', () => {
  for (const url of [
    'ftp://example.org',
    'example.org',
    'http://a b',
    'http://a$b',
    'http://a"b',
    "http://a'b",
    'http://a#b',
  ]) {
    const { status, stderr } = makeEnv({ url })
    assert.equal(status, 1, url)
    assert.match(stderr, /is not an http:\/\/ or https:\/\/ URL/)
  }
})

test('setup writes both files of a release once, and only the compose file again', () => {
  const prefix = temporaryFolder()
  for (const folder of ['bin', 'share/vault-and-tracker', 'target'])
    mkdirSync(join(prefix, folder), { recursive: true })
  cpSync(join(root, 'infra/make-env'), join(prefix, 'bin/setup'))
  writeFileSync(join(prefix, 'share/vault-and-tracker/docker-compose.yml'), released())
  const target = join(prefix, 'target')
  const file = (/** @type {string} */ name) => readFileSync(join(target, name), 'utf8')
  const setup = (/** @type {string[]} */ args, SETUP_FOLDER = target) =>
    spawnSync('sh', [join(prefix, 'bin/setup'), ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], SETUP_FOLDER },
    })

  const first = setup(['https://tracker.example.org'])
  assert.equal(first.status, 0, first.stderr)
  assert.match(first.stdout, /docker compose up[^]*https:\/\/tracker\.example\.org\/setup/)
  assert.deepEqual(readdirSync(target).sort(), ['.env', 'docker-compose.yml'])
  assert.equal(file('docker-compose.yml'), released())
  assert.equal(statSync(join(target, '.env')).mode & 0o777, 0o600)
  const secrets = file('.env')
  assert.equal(first.stdout.includes(variables(secrets)['ADMIN_TOKEN'] ?? ''), false)

  writeFileSync(join(target, 'docker-compose.yml'), 'changed')
  assert.equal(setup([]).status, 0)
  assert.equal(file('docker-compose.yml'), 'changed')
  rmSync(join(target, 'docker-compose.yml'))
  assert.match(setup([]).stdout, /https:\/\/tracker\.example\.org\/setup/)
  assert.equal(file('docker-compose.yml'), released())
  rmSync(join(target, 'docker-compose.yml'))
  assert.equal(setup(['https://tracker.example.org']).status, 0)
  assert.equal(file('docker-compose.yml'), released())
  for (const args of [['https://other.example.org'], ['no-url'], ['http://a', 'http://b']])
    assert.equal(setup(args).status, 1, args.join())
  assert.equal(setup([], join(prefix, 'missing')).status, 1)
  assert.equal(file('.env'), secrets)
})

/**
 * The content of a compose file.
 *
 * @typedef {Record<string, unknown> & { image: string, volumes?: string[] }} Service
 * @param {string} text
 * @returns {{ services: Record<string, Service>, volumes: object }}
 */
function composeFile(text) {
  return parse(text, { merge: true })
}

/** The compose file of a release. @param {Record<string, string>} [env] */
function released(env = {}) {
  const PATH = process.env['PATH']
  const made = spawnSync(process.execPath, [join(root, 'infra/release/compose.mjs')], {
    encoding: 'utf8',
    env: { PATH, ...env },
  })
  assert.equal(made.status, 0, made.stderr)
  return made.stdout
}

/**
 * Runs make-env in a temporary folder, for a URL or in another environment.
 *
 * @param {{ url?: string, PATH?: string | undefined }} [options]
 */
function makeEnv({ url, PATH = process.env['PATH'] } = {}) {
  const folder = temporaryFolder()
  const args = url === undefined ? [] : [url]
  cpSync(join(root, 'infra/make-env'), join(folder, 'infra/make-env'))
  const { status, stderr } = spawnSync('sh', ['infra/make-env', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH },
  })
  const path = join(folder, '.env')
  return { folder, path, status, stderr, text: () => readFileSync(path, 'utf8') }
}

/** A folder that contains only these programs. @param {string[]} programs */
function folderOf(programs) {
  const folder = temporaryFolder()
  for (const program of programs) {
    const { stdout } = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' })
    symlinkSync(program === 'node' ? process.execPath : stdout.trim(), join(folder, program))
  }
  return folder
}

function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'make-env-'))
  folders.push(folder)
  return folder
}

/** The variables of a file such as `.env`. @param {string} text @returns {Record<string, string>} */
function variables(text) {
  return Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))
}

/** @param {string} path from the repository */
function read(path) {
  return readFileSync(join(root, path), 'utf8')
}
