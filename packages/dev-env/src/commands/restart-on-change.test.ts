import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '../testing/eventually.ts'
import { restartOnChange, sourceFolders } from './restart-on-change.ts'

const repository = join(import.meta.dirname, '../../../..')
let root: string
let events: string[]
let stopWatching: () => void
let canStart: boolean

/** A workspace in which only the tracker uses `kit`, and services that only record what happens to them. */
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'restart-test-'))
  events = []
  canStart = true
  for (const folder of ['services/vault', 'services/tracker', 'packages/kit'])
    mkdirSync(join(root, folder, 'src/db'), { recursive: true })
  writeFileSync(join(root, 'services/vault/package.json'), '{}')
  writeFileSync(join(root, 'packages/kit/package.json'), '{}')
  const dependencies = { '@vault-and-tracker/kit': 'workspace:*' }
  writeFileSync(join(root, 'services/tracker/package.json'), JSON.stringify({ dependencies }))
  const service = (name: string) => ({
    pid: 0,
    pause: () => undefined,
    resume: () => undefined,
    kill: () => Promise.resolve({ code: 0, signal: null }),
    stop: () => Promise.resolve({ code: 0, signal: null }),
    isRunning: () => true,
    onUnexpectedExit: () => undefined,
    restart: () => {
      if (!canStart) return Promise.reject(new Error('it does not start'))
      events.push(`${name} restarted`)
      return Promise.resolve()
    },
  })
  const world = {
    services: { vault: service('vault'), tracker: service('tracker') },
    migrate: (name: string) => Promise.resolve(void events.push(`${name} migrated`)),
  }
  stopWatching = await restartOnChange(world, { root, step: (_label, work) => work() }, () => false)
})
afterEach(() => {
  stopWatching()
  rmSync(root, { recursive: true })
})

const write = (file: string, text = ''): void => writeFileSync(join(root, file), text)
const happened = (count: number): Promise<void> => eventually(() => events.length >= count)

test('a service restarts when its own sources or those of its packages change, even in new folders', async () => {
  write('services/vault/src/main.ts')
  await happened(1)
  write('packages/kit/src/kit.ts')
  await happened(2)
  mkdirSync(join(root, 'services/vault/src/feature'))
  await eventually(() => {
    write('services/vault/src/feature/new.ts')
    return events.length >= 3
  })
  expect(events.slice(0, 3)).toEqual(['vault restarted', 'tracker restarted', 'vault restarted'])
})

test('a file that an editor replaces is noticed every time', async () => {
  for (let round = 1; round <= 3; round++) {
    write('services/vault/src/main.ts~', String(round))
    renameSync(join(root, 'services/vault/src/main.ts~'), join(root, 'services/vault/src/main.ts'))
    await happened(round)
  }
  expect(events).toEqual(['vault restarted', 'vault restarted', 'vault restarted'])
})

test('files that are saved together are one restart, and a migration runs before it', async () => {
  for (const file of ['a.ts', 'b.ts', 'db/0002-more.ts']) write(`services/vault/src/${file}`)
  await happened(2)
  expect(events).toEqual(['vault migrated', 'vault restarted'])
})

test('a test or another file restarts no service', async () => {
  for (const file of ['a.test.ts', 'notes.md', '.a.ts.swp']) write(`services/vault/src/${file}`)
  write('services/tracker/src/last.ts')
  await happened(1)
  expect(events).toEqual(['tracker restarted'])
})

test('a service that does not start is started again at the next change', async () => {
  canStart = false
  write('services/vault/src/broken.ts')
  write('services/tracker/src/db/0003-seen.ts')
  await happened(1)
  canStart = true
  write('services/vault/src/mended.ts')
  await happened(2)
  expect(events).toEqual(['tracker migrated', 'vault restarted'])
})

test('each service is restarted for its own sources and those of its packages', () => {
  const folders = sourceFolders(repository, 'tracker').map((folder) => relative(repository, folder))
  expect(folders).toEqual(
    expect.arrayContaining(['services/tracker/src', 'services/tracker/lua', 'packages/service-kit/src']),
  )
  expect(folders.some((folder) => folder.includes('vault'))).toBe(false)
})
