import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import {
  type AlertRecorder,
  type DurableServers,
  eventually,
  recordAlerts,
  startDurableServers,
} from '@vault-and-tracker/dev-env'
import { createProject, type Key, newKey, send, signedSend, signHeaders } from '../support/client.ts'
import { startVault, type TestVault } from '../support/vault.ts'
import { statusOf } from '../support/vault-process.ts'

/** Longer than any window of the rules, in minutes. */
const QUIET = 20
const MINUTE_MS = 60_000

let servers: DurableServers
let vault: TestVault
let key: Key
let url: string
let alerts: AlertRecorder

beforeAll(async () => {
  servers = await startDurableServers('vault-alerts')
  vault = await startVault({}, { postgres: servers.postgres, redisUrl: servers.redis.url })
  vault.context.background.start()
  key = await createProject(vault.url, 'shop')
  url = `${vault.url}/v1/secrets`
  await signedSend({ project: 'shop', key, method: 'PUT', url, body: { key: 'A', value: 'a', env: 'production' } })
})
beforeEach(() => {
  // The log is sealed every second, in which these tests scrape for many minutes of Prometheus's time. The duration of a
  // request depends on the machine.
  alerts = recordAlerts('vault', {
    url: () => vault.url,
    now: () => vault.now(),
    without: /^vault_audit_sealed|_duration_seconds_bucket$/,
  })
})
afterAll(async () => {
  await vault.context.background.stop()
  await vault.stop()
  await servers.stop()
})

async function load(signedBy = key, project = 'shop'): Promise<void> {
  await signedSend({ project, key: signedBy, method: 'GET', url })
}

const untilReady = (): Promise<void> => eventually(async () => (await statusOf(`${vault.url}/ready`)) === 200)

test('no alert fires normally', async () => {
  await alerts.scrape(QUIET, () => load())
  await alerts.expectFiring()
})

test.each(['postgres', 'redis'] as const)('the server of %s is stopped', async (name) => {
  await servers[name].kill()
  await alerts.scrape(8, () => load())
  await alerts.expectFiring('RequestsFail', 'ServiceNotReady')
  await servers[name].restart()
  await untilReady()
  await alerts.scrape(QUIET, () => load())
  await alerts.expectFiring()
})

test('fires if the audit log cannot be sealed', async () => {
  const watched = recordAlerts('vault', {
    url: () => vault.url,
    now: () => vault.now(),
    without: /_duration_seconds_bucket$/,
  })
  const sealed = async (): Promise<number> => {
    const metrics = await (await fetch(`${vault.url}/metrics`)).text()
    return Number(/^vault_audit_sealed_timestamp_seconds (\S+)$/m.exec(metrics)?.[1])
  }
  const sealedMinute = async (): Promise<void> => {
    vault.advance(MINUTE_MS)
    const now = vault.now() / 1_000
    await load()
    await eventually(async () => (await sealed()) >= now)
  }
  await watched.scrape(3, sealedMinute)
  await watched.expectFiring()
  await vault.sql('alter table audit_seals rename to audit_seals_aside')
  await watched.scrape(4, () => vault.advance(MINUTE_MS))
  await watched.expectFiring('VaultAuditNotSealed')
  await vault.sql('alter table audit_seals_aside rename to audit_seals')
  await watched.scrape(3, sealedMinute)
  await watched.expectFiring()
})

test('fires if keys are guessed', async () => {
  const other = await createProject(vault.url, 'other')
  const headers = await signHeaders({ project: 'shop', key: other, method: 'GET', url })
  await alerts.scrape(12, () => Promise.all(Array.from({ length: 70 }, () => send(url, { headers }))))
  await alerts.expectFiring('VaultAuthenticationFailures')
})

test('fires if a key is inserted into the database', async () => {
  await createProject(vault.url, 'inserted')
  await alerts.scrape(2, () => load())
  const foreign = newKey()
  await vault.sql(
    `insert into project_keys (id, project_uid, public_key, created_at, not_after)
     select gen_random_uuid(), uid, $1, now(), '2099-01-01' from projects where name = 'inserted'`,
    [Buffer.from(foreign.publicKeyHex, 'hex')],
  )
  await alerts.scrape(1, () => load(foreign, 'inserted'))
  await alerts.expectFiring('VaultRowsRefused')
})

test('fires if a seal is forged', async () => {
  await alerts.scrape(2, () => load())
  await vault.sql(`insert into audit_seals (seal_no, key_no, seqs, codes, position, gaps, sealed_at, mac)
    select seal_no + 1, key_no, seqs, codes, position, gaps, sealed_at, mac from audit_seals order by seal_no desc limit 1`)
  await alerts.scrape(1, async () => {
    await load()
    await eventually(async () =>
      (await (await fetch(`${vault.url}/metrics`)).text()).includes('vault_refused_rows_total{table="audit_seals"} 1'),
    )
  })
  await alerts.expectFiring('VaultRowsRefused')
  await vault.sql(
    'delete from audit_seals where seal_no in (select a.seal_no from audit_seals a join audit_seals b on a.mac = b.mac and a.seal_no > b.seal_no)',
  )
  await alerts.scrape(QUIET, () => load())
  await alerts.expectFiring()
})

test('fires if a stored value does not decrypt', async () => {
  await alerts.scrape(2, () => load())
  await vault.sql(`update secret_versions set blob = overlay(blob placing '\\xff00ff00' from 30)`)
  await alerts.scrape(1, () => load())
  await alerts.expectFiring('VaultValuesDoNotDecrypt')
  const metrics = await (await fetch(`${vault.url}/metrics`)).text()
  expect(metrics).toMatch(/^vault_decryption_failures_total 1$/m)
})

test('fires if the service is stopped', async () => {
  const gone = recordAlerts('vault', { url: () => 'http://127.0.0.1:9' })
  await gone.scrape(3)
  await gone.expectFiring('ServiceDown')
})
