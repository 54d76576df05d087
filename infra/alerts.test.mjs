// The alert rules and the dashboard. Run with `node --test infra/alerts.test.mjs`; it needs promtool.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promtool, testAlerts } from '../packages/dev-env/src/testing/promtool.mjs'

const root = join(import.meta.dirname, '..')
const RULES = join(root, 'infra/prometheus/alerts.yml')
const rules = read('infra/prometheus/alerts.yml')
/** @type {{ panels: { title: string, targets?: { expr: string }[] }[] }} */
const dashboard = JSON.parse(read('infra/grafana/dashboard.json'))
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name)

/** Names of prom-client's own metrics and of Prometheus itself, as far as rules and dashboard use them. */
const GIVEN = ['up', 'process_resident_memory_bytes', 'process_cpu_seconds_total']
const GIVEN_OF_NODE = ['nodejs_eventloop_lag_p99_seconds', 'nodejs_heap_size_used_bytes']
const METRIC = /\b(?:up|(?:http|service|postgres|redis|vault|tracker|process|nodejs)_[a-z_0-9]+)\b/g

/** A series of a job. @param {string} job @param {string} name @param {string} [labels] */
const of = (job, name, labels = '') => `${name}{job="${job}",instance="a"${labels && `,${labels}`}}`
const vault = (/** @type {string} */ name, labels = '') => of('vault', name, labels)
const tracker = (/** @type {string} */ name, labels = '') => of('tracker', name, labels)
/** Ten requests a minute, and of those slower than half a second one. @param {string} name @param {string} labels */
const slow = (name, labels) =>
  Object.fromEntries(
    [
      ['0.5', '0+9x60'],
      ['1', '0+10x60'],
      ['+Inf', '0+10x60'],
    ].map(([le, values]) => [tracker(`${name}_bucket`, `le="${le}",${labels}`), values ?? '']),
  )

/**
 * The cases of each alert: series that are wrong from minute 0 on, the minute at which it is still silent and the one
 * at which it fires, and series just below the threshold.
 *
 * @type {Record<string, { wrong: Record<string, string>, silent?: number, fires: number, right: Record<string, string> }>}
 */
const CASES = {
  ServiceDown: { wrong: { [vault('up')]: '0x5' }, silent: 0, fires: 2, right: { [vault('up')]: '1x60' } },
  ServiceNotReady: {
    wrong: { [tracker('service_ready', 'check="redis"')]: '0x5' },
    silent: 0,
    fires: 2,
    right: { [tracker('service_ready', 'check="redis"')]: '1x60' },
  },
  ServiceRestarts: {
    wrong: { [vault('service_start_time_seconds')]: '100 200 300 400' },
    silent: 2,
    fires: 3,
    right: { [vault('service_start_time_seconds')]: '100 200 300x60' },
  },
  RequestsFail: {
    wrong: {
      [vault('http_request_duration_seconds_count', 'route="/v1/secrets",status="200"')]: '0+90x60',
      [vault('http_request_duration_seconds_count', 'route="/v1/secrets",status="503"')]: '0+10x60',
    },
    silent: 4,
    fires: 8,
    right: {
      [vault('http_request_duration_seconds_count', 'route="/v1/secrets",status="200"')]: '0+100x60',
      [vault('http_request_duration_seconds_count', 'route="/ready",status="503"')]: '0+10x60',
    },
  },
  RequestsSlow: {
    wrong: slow('http_request_duration_seconds', 'route="/api/torrents"'),
    silent: 9,
    fires: 13,
    right: slow('http_request_duration_seconds', 'route="/api/events"'),
  },
  PostgresPoolExhausted: {
    wrong: { [tracker('postgres_pool_waiting')]: '1x10' },
    silent: 1,
    fires: 3,
    right: { [tracker('postgres_pool_waiting')]: '5 0x60' },
  },
  RedisNearlyFull: {
    wrong: {
      [tracker('redis_memory_used_bytes', 'redis="main"')]: '81x60',
      [tracker('redis_memory_max_bytes', 'redis="main"')]: '100x60',
    },
    silent: 4,
    fires: 6,
    right: {
      [tracker('redis_memory_used_bytes', 'redis="main"')]: '81x60',
      [tracker('redis_memory_max_bytes', 'redis="main"')]: '0x60',
      [tracker('redis_memory_used_bytes', 'redis="swarms"')]: '79x60',
      [tracker('redis_memory_max_bytes', 'redis="swarms"')]: '100x60',
    },
  },
  RedisCannotWrite: {
    wrong: { [vault('redis_append_only_file_ok', 'redis="main"')]: '0x5' },
    silent: 0,
    fires: 2,
    right: { [vault('redis_append_only_file_ok', 'redis="main"')]: '1x60' },
  },
  VaultValuesDoNotDecrypt: {
    wrong: { [vault('vault_decryption_failures_total')]: '0 0 1x20' },
    silent: 1,
    fires: 3,
    right: { [vault('vault_decryption_failures_total')]: '7x60' },
  },
  VaultRowsRefused: {
    wrong: { [vault('vault_refused_rows_total', 'table="project_keys"')]: '0 0 1x20' },
    silent: 1,
    fires: 3,
    right: { [vault('vault_refused_rows_total', 'table="project_keys"')]: '7x60' },
  },
  VaultAuditNotSealed: {
    wrong: { [vault('vault_audit_sealed_timestamp_seconds')]: '0x10' },
    silent: 2,
    fires: 4,
    right: { [vault('vault_audit_sealed_timestamp_seconds')]: '0+60x60', [of('vault', 'up')]: '1x60' },
  },
  VaultAuthenticationFailures: {
    wrong: { [vault('vault_authentication_failures_total', 'code="invalid_signature"')]: '0+70x60' },
    silent: 8,
    fires: 11,
    right: { [vault('vault_authentication_failures_total', 'code="invalid_signature"')]: '0+50x60' },
  },
  VaultSecretsExpire: {
    wrong: { [vault('vault_secrets_expiring', 'due="7d"')]: '1x60' },
    silent: 9,
    fires: 11,
    right: {
      [vault('vault_secrets_expiring', 'due="30d"')]: '5x60',
      [vault('vault_secrets_expiring', 'due="7d"')]: '0x60',
      [vault('vault_secrets_expiring', 'due="overdue"')]: '0x60',
    },
  },
  TrackerAnnouncesFail: {
    wrong: { [tracker('tracker_failures_total', 'action="announce",rule="tracker_unavailable"')]: '0+1x60' },
    silent: 4,
    fires: 8,
    right: { [tracker('tracker_failures_total', 'action="scrape",rule="unknown_passkey"')]: '0+1x60' },
  },
  TrackerAnnouncesRefused: {
    wrong: {
      [tracker('tracker_failures_total', 'action="announce",rule="unknown_passkey"')]: '0+60x60',
      [tracker('tracker_announces_total', 'event="none"')]: '0+40x60',
    },
    silent: 14,
    fires: 18,
    right: {
      [tracker('tracker_failures_total', 'action="announce",rule="unknown_passkey"')]: '0+40x60',
      [tracker('tracker_announces_total', 'event="none"')]: '0+60x60',
    },
  },
  TrackerAnnouncesSlow: {
    wrong: slow('tracker_announce_duration_seconds', 'action="announce"'),
    silent: 9,
    fires: 13,
    right: { [tracker('tracker_announce_duration_seconds_bucket', 'le="0.5",action="scrape"')]: '0+10x60' },
  },
  TrackerNoAnnounces: {
    wrong: {
      [tracker('tracker_announces_total', 'event="none"')]: '5x60',
      [tracker('tracker_peers', 'role="seeder"')]: '3x60',
    },
    silent: 14,
    fires: 18,
    right: {
      [tracker('tracker_announces_total', 'event="none"')]: '5x60',
      [tracker('tracker_peers', 'role="seeder"')]: '0x60',
    },
  },
  TrackerTransfersNotCredited: {
    wrong: { [tracker('tracker_accounting_batches_waiting')]: '1x60' },
    silent: 4,
    fires: 6,
    right: {
      [tracker('tracker_accounting_batches_waiting')]: '1 1 0x60',
      [tracker('tracker_accounting_failures_total')]: '7x60',
    },
  },
  TrackerTorznabRequestsNotLogged: {
    wrong: { [tracker('tracker_torznab_requests_dropped_total')]: '0 0 10x60' },
    silent: 1,
    fires: 3,
    right: { [tracker('tracker_torznab_requests_dropped_total')]: '10x60' },
  },
  TrackerWebSocketsRefused: {
    wrong: { [tracker('tracker_websocket_refused_total', 'reason="origin"')]: '0+70x60' },
    silent: 8,
    fires: 11,
    right: { [tracker('tracker_websocket_refused_total', 'reason="stopping"')]: '0+70x60' },
  },
}

test('every alert fires on its condition, not too early, and not below its threshold', async () => {
  assert.deepEqual(Object.keys(CASES), alerts)
  const cases = Object.entries(CASES).flatMap(([alert, { wrong, silent = 0, fires, right }]) => [
    { series: wrong, firing: [{ atMinute: silent, alerts: [] }, ...[{ atMinute: fires, alerts: [alert] }]] },
    { series: right, firing: [20, 40, 60].map((atMinute) => ({ atMinute, alerts: [] })) },
  ])
  await testAlerts(RULES, cases)
})

test('promtool accepts the rules, and the example of a configuration that has them', async () => {
  await promtool('check', 'rules', RULES)
  await promtool('check', 'config', join(root, 'infra/prometheus/prometheus.yml.example'))
})

test('rules and dashboard name only metrics that exist', () => {
  const sources = ['packages', 'services'].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) =>
      readdirSync(join(root, group, name, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => /(?<!\.test)\.ts$/.test(file))
        .map((file) => join(group, name, 'src', file)),
    ),
  )
  const inCode = sources.flatMap((file) =>
    [...read(file).matchAll(/'((?:http|service|postgres|redis|vault|tracker)_[a-z_]+)'/g)].map(([, name = '']) => name),
  )
  const known = new Set([...inCode, ...GIVEN, ...GIVEN_OF_NODE])
  const expressions = [...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)), rules]
  const named = expressions.flatMap((text) => text.match(METRIC) ?? [])
  assert.ok(named.length > 40)
  for (const name of named)
    assert.ok(known.has(name) || known.has(name.replace(/_(?:bucket|count|sum)$/, '')), `there is no metric ${name}`)
})

test('every alert has and links to a section of the operations page', () => {
  const operations = read('docs/operations.md')
  for (const alert of alerts) {
    assert.ok(operations.includes(`\n#### ${alert}\n`), `operations has no section ${alert}`)
    assert.ok(rules.includes(`runbook: docs/operations.md#${alert.toLowerCase()}\n`), alert)
  }
  const sections = [...operations.matchAll(/^#### ([A-Z][A-Za-z]+[A-Z][A-Za-z]+)$/gm)].map(([, name]) => name)
  assert.deepEqual(sections, alerts)
})

test('every panel of the dashboard has a unique title and a query', () => {
  const titles = dashboard.panels.map(({ title }) => title)
  assert.equal(new Set(titles).size, titles.length)
  assert.ok(titles.length > 10)
})

/** @param {string} file from the repository */
function read(file) {
  return readFileSync(join(root, file), 'utf8')
}
