// The Helm chart, the systemd units and the example for Traefik. Run with `node --test infra/deployment.test.mjs`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { requireProgram } from '../packages/dev-env/src/processes/programs.mjs'
import { requireHelm } from './lib/helm.mjs'
import { ROOT } from './lib/workspace.mjs'

const CHART = join(ROOT, 'infra', 'helm')
const UNITS = join(ROOT, 'infra', 'systemd')
const PUBLIC_URLS = {
  vault: { settings: { PUBLIC_URL: 'https://vault.example.org' } },
  tracker: { settings: { PUBLIC_URL: 'https://tracker.example.org' } },
}
const EVERYTHING = {
  image: { tag: '9.9.9', pullSecrets: [{ name: 'registry' }] },
  vault: {
    settings: { PUBLIC_URL: 'https://vault.example.org,http://vault:4200' },
    podAnnotations: { a: 'b' },
    nodeSelector: { disk: 'fast' },
  },
  tracker: {
    settings: { PUBLIC_URL: 'https://tracker.example.org:8443', UPLOAD_BYTES_PER_DAY: 5_000_000_000, WEBSOCKET: false },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  },
  ingress: { enabled: true, className: 'nginx', annotations: { a: 'b' }, tlsSecret: { vault: 'vault-tls' } },
  networkPolicy: { from: [{ namespaceSelector: {} }] },
  backup: { enabled: true, recipient: 'age1example' },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
}
/** The modules of `kubernetes-models` with the types of the objects. */
const MODULES = new Set(['apps/v1', 'v1', 'policy/v1', 'networking.k8s.io/v1', 'batch/v1'])

const helm = await requireHelm()
const cache = join(ROOT, 'node_modules', '.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'deployment-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs Helm on the chart. @param {string} action @param {object} values @param {readonly string[]} options */
function runHelm(action, values, ...options) {
  const file = join(folder, 'values.json')
  writeFileSync(file, JSON.stringify(values))
  const name = action === 'template' ? ['site'] : []
  return spawnSync(helm, [action, ...name, CHART, '--values', file, ...options], { encoding: 'utf8' })
}

/**
 * @typedef {{ name: string, value: string }} Variable
 * @typedef {{ securityContext: object, env: Variable[], ports?: { name: string }[], volumeMounts: { name: string, mountPath: string }[] }} Container
 * @typedef {{ securityContext: object, containers: Container[], volumes: { name: string, secret?: { items: { path: string }[] } }[] }} Pod
 * @typedef {Record<string, string>} Labels
 * @typedef {{ template: { spec: Pod, metadata: { labels: Labels } }, selector?: object, podSelector?: object, jobTemplate?: { spec: Spec } }} Spec
 * @typedef {{ apiVersion: string, kind: string, spec: Spec }} Manifest
 */

/** The objects that the chart creates. @param {object} values @returns {Manifest[]} */
function manifestsOf(values) {
  const { status, stdout, stderr } = runHelm('template', values)
  assert.equal(status, 0, stderr)
  return parseAllDocuments(stdout).flatMap((document) => document.toJS() ?? [])
}

/** @param {Manifest[]} manifests @returns {{ pod: Pod, labels: Labels, kind: string }[]} */
function podsOf(manifests) {
  return manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
    .map(({ kind, spec }) => ({ kind, pod: spec.template.spec, labels: spec.template.metadata.labels }))
}

test('Helm accepts the chart', () => {
  const { status, stdout } = runHelm('lint', EVERYTHING, '--strict')
  assert.equal(status, 0, stdout)
})

test('every object has only fields that Kubernetes knows, of the right types', () => {
  const manifests = [EVERYTHING, PUBLIC_URLS, { ...PUBLIC_URLS, vault: { enabled: false } }].flatMap(manifestsOf)
  const known = manifests.filter(({ apiVersion }) => MODULES.has(apiVersion))
  assert.deepEqual(
    [...new Set(manifests.filter((each) => !known.includes(each)).map(({ kind }) => kind))],
    ['ServiceMonitor'],
  )
  // The compiler refuses unknown fields of a literal.
  const source = known.map(
    (manifest, index) =>
      `export const m${index}: import('kubernetes-models/${manifest.apiVersion}').I${manifest.kind} = ${JSON.stringify(manifest, null, 1)}`,
  )
  const file = join(folder, 'manifests.ts')
  writeFileSync(file, source.join('\n'))
  const options = '--noEmit --strict --skipLibCheck --module nodenext --ignoreConfig'.split(' ')
  const { status, stdout } = spawnSync('npx', ['--no-install', 'tsc', ...options, file], {
    encoding: 'utf8',
    cwd: ROOT,
  })
  assert.equal(status, 0, stdout)
})

test('services, monitors and policies select the pods of their service, and no migration', () => {
  const manifests = manifestsOf(EVERYTHING)
  const pods = podsOf(manifests)
  for (const { kind, spec } of manifests) {
    const given = spec.podSelector ?? spec.selector
    if (given === undefined || kind === 'ServiceMonitor') continue
    const selector = 'matchLabels' in given ? /** @type {Labels} */ (given.matchLabels) : given
    const selected = pods.filter(({ labels }) =>
      Object.entries(selector).every(([key, value]) => labels[key] === value),
    )
    assert.deepEqual(
      selected.map((pod) => pod.kind),
      ['Deployment'],
    )
  }
})

test('secrets are mounted as files, and only migrations have the role that owns the database', () => {
  for (const { kind, pod } of podsOf(manifestsOf(EVERYTHING)))
    for (const { env, volumeMounts } of pod.containers) {
      const files = pod.volumes.flatMap(({ name, secret }) => {
        const path = volumeMounts.find((mount) => mount.name === name)?.mountPath
        return secret?.items.map((item) => `${path}/${item.path}`) ?? []
      })
      const given = env.filter(({ name }) => name.endsWith('_FILE'))
      assert.deepEqual(
        given.map(({ value }) => value),
        files,
      )
      assert.ok(files.length > 0)
      assert.equal(
        files.some((file) => file.endsWith('MIGRATION_DATABASE_URL')),
        kind === 'Job',
      )
    }
})

test('no pod runs as root, gains privileges or writes to its root file system', () => {
  const specs = manifestsOf(EVERYTHING).map(({ spec }) => spec.jobTemplate?.spec ?? spec)
  const pods = specs.filter((spec) => 'template' in spec).map(({ template }) => template.spec)
  assert.equal(pods.length, 5)
  for (const { securityContext, containers } of pods) {
    assert.deepEqual(Object.entries(securityContext)[0], ['runAsNonRoot', true])
    for (const container of containers)
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
  }
})

test('settings reach the service as they were written', () => {
  const tracker = podsOf(manifestsOf(EVERYTHING)).find(({ labels }) => labels['app.kubernetes.io/name'] === 'tracker')
  const env = new Map(tracker?.pod.containers[0]?.env.map(({ name, value }) => [name, value]))
  assert.equal(env.get('UPLOAD_BYTES_PER_DAY'), '5000000000')
  assert.equal(env.get('WEBSOCKET'), 'false')
})

for (const [what, values] of /** @type {const} */ ([
  ['a service without its public address', { vault: PUBLIC_URLS.vault }],
  ['an unknown value', { ...PUBLIC_URLS, replicas: 3 }],
  ['backups without a key', { ...PUBLIC_URLS, backup: { enabled: true } }],
  [
    'a name that is no setting',
    { ...PUBLIC_URLS, vault: { settings: { ...PUBLIC_URLS.vault.settings, logLevel: 'info' } } },
  ],
]))
  test(`the chart refuses ${what}`, () => {
    const { status, stderr } = runHelm('template', values)
    assert.notEqual(status, 0)
    assert.match(stderr, /schema/)
  })

test('the chart and the units read settings that the services have', () => {
  /** @type {Record<'vault' | 'tracker', { secret: { keys: string[] } }>} */
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
  for (const service of /** @type {const} */ (['vault', 'tracker'])) {
    const readme = readFileSync(join(ROOT, 'services', service, 'README.md'), 'utf8')
    const unit = readFileSync(join(UNITS, `${service}.service`), 'utf8')
    const credentials = [...unit.matchAll(/^LoadCredential=(\w+):.*\nEnvironment=\1_FILE=%d\/\1$/gm)].map(
      ([, name]) => name,
    )
    assert.deepEqual(credentials, values[service].secret.keys)
    for (const name of credentials) assert.ok(readme.includes(`\n| \`${name}\` |`), `${name} is no setting`)
  }
})

// The tests of the services start the other proxies.
test('the Traefik example routes to both services what is public, and logs no URL', () => {
  const read = (/** @type {string} */ name) => readFileSync(join(ROOT, 'infra/proxies', name), 'utf8')
  /** @type {{ providers: { file: { filename: string } }, accessLog: { format: string, fields: { names: object } } }} */
  const { providers, accessLog } = parse(read('traefik.yml'))
  /** @type {{ http: { routers: Record<string, { rule: string, service: string }>, services: Record<string, object> } }} */
  const { http } = parse(read(basename(providers.file.filename)))
  for (const [name, port] of Object.entries({ tracker: 6969, vault: 4200 })) {
    const { rule, service = '' } = http.routers[name] ?? {}
    assert.equal(rule, `Host(\`${name}.example.org\`) && !Path(\`/metrics\`) && !Path(\`/ready\`)`)
    assert.deepEqual(http.services[service], { loadBalancer: { servers: [{ url: `http://127.0.0.1:${port}` }] } })
  }
  assert.equal(accessLog.format, 'json')
  assert.deepEqual(accessLog.fields, { names: { RequestPath: 'drop', RequestLine: 'drop' } })
})

test('systemd accepts each unit, with an exposure below 3', async () => {
  const analyze = await requireProgram('systemd-analyze', { debianPackage: 'systemd' })
  const units = readdirSync(UNITS).map((name) => {
    // A template is checked as an instance.
    const unit = join(folder, name.replace('@', '@vault'))
    writeFileSync(unit, readFileSync(join(UNITS, name), 'utf8').replace('/usr/bin/node', process.execPath))
    return unit
  })
  const verified = spawnSync(analyze, ['verify', '--man=no', ...units], { encoding: 'utf8' })
  assert.deepEqual([verified.status, verified.stderr], [0, ''])
  for (const unit of units) {
    const { status, stdout } = spawnSync(analyze, ['security', '--offline=true', '--threshold=29', unit], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
  }
})
