import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startPostgres,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { createProject, type Key, send, signedSend } from '../support/client.ts'
import { startVault, type TestVault } from '../support/vault.ts'

let folder: string
let postgres: PrivateServer
let vault: TestVault
let key: Key
/** Whether Postgres has its own small file system, which requires the right to mount one. */
let isMounted: boolean

beforeAll(async () => {
  folder = temporaryFolder('faults-disk')
  mkdirSync(`${folder}/disk`)
  isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=755', 'tmpfs', `${folder}/disk`]).status === 0
  postgres = await startPostgres({ dataDir: `${folder}/disk/postgres`, durable: true })
  vault = await startVault({}, { postgres })
  key = await createProject(vault.url, 'shop')
})
afterAll(async () => {
  rmSync(`${folder}/disk/filler`, { force: true })
  try {
    await vault.stop()
    await postgres.stop()
  } finally {
    if (isMounted) spawnSync('umount', ['--lazy', `${folder}/disk`])
    removeTemporaryFolder(folder)
  }
})

/** Without its own file system, Postgres is not allowed to create temporary files. */
async function fill(): Promise<void> {
  if (isMounted) {
    const { bavail, bsize } = statfsSync(`${folder}/disk`)
    writeFileSync(`${folder}/disk/filler`, Buffer.alloc(bavail * bsize))
    return
  }
  await vault.sql(`alter database ${vault.database.name} set temp_file_limit = 0`)
  await reconnect()
}

async function empty(): Promise<void> {
  rmSync(`${folder}/disk/filler`, { force: true })
  await vault.sql(`alter database ${vault.database.name} reset temp_file_limit`)
  await reconnect()
}

const reconnect = () =>
  vault.sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vault'`)

async function ready(): Promise<unknown> {
  const { status, body } = await send(`${vault.url}/ready`)
  return [status, (body as { checks: { postgres: string } }).checks.postgres]
}

const put = async () => {
  const body = { key: 'A', value: 'v'.repeat(60_000), env: 'production' }
  return (await signedSend({ project: 'shop', key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })).status
}

test('is not ready while the disk of Postgres is full', async () => {
  expect(await ready()).toEqual([200, 'ok'])
  await fill()
  await eventually(async () => JSON.stringify(await ready()) === JSON.stringify([503, 'failed']))
  if (isMounted) await eventually(async () => (await put()) === 503)
  await empty()
  await eventually(async () => JSON.stringify(await ready()) === JSON.stringify([200, 'ok']))
  await eventually(async () => (await put()) === 200)
})
