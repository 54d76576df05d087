import { afterEach, expect, test } from '@jest/globals'
import { SOURCE_ARGUMENTS } from '@vault-and-tracker/dev-env'
import { createTorrentFileReader } from '../src/torrents/torrent-file.thread.ts'
import type { TorrentFileReader } from '../src/torrents/torrent-file.ts'
import { withManyFiles } from './support/costly-torrents.ts'
import { makeTorrent } from './support/make-torrent.ts'

const nodeArguments = SOURCE_ARGUMENTS
let reader: TorrentFileReader

afterEach(() => reader.close())

const refusal = (code: string, message: unknown) => expect.objectContaining({ code, message })

test('reads files one after the other, and reports why a file is refused', async () => {
  reader = createTorrentFileReader({ nodeArguments })
  const files = [
    makeTorrent('one'),
    Buffer.from('hello'),
    makeTorrent('two'),
    makeTorrent('x', { pieces: Buffer.of(1) }),
  ]
  const read = await Promise.allSettled(files.map((file) => reader.read(file, 'OurSite', 'owner')))
  expect(read).toMatchObject([
    { value: { name: 'one', fileCount: 1, firstFiles: [{ path: 'one', size: 1_000_000 }] } },
    { reason: refusal('BAD_REQUEST', 'torrent: The file is not valid bencode.') },
    { value: { name: 'two' } },
    { reason: refusal('BAD_REQUEST', expect.stringMatching(/^torrent: The piece hashes/)) },
  ])
})

test('users take turns, however many files a user has waiting', async () => {
  reader = createTorrentFileReader({ nodeArguments })
  const order: string[] = []
  const owners = ['alice', 'alice', 'alice', 'alice', 'bob', 'carol', 'carol', 'bob']
  await Promise.all(
    owners.map(async (owner, i) => {
      await reader.read(makeTorrent(String(i)), 'OurSite', owner)
      order.push(owner)
    }),
  )
  // The first file is under way when the second comes.
  expect(order).toEqual(['alice', 'alice', 'bob', 'carol', 'alice', 'bob', 'carol', 'alice'])
})

test('reading a costly file does not block the event loop', async () => {
  reader = createTorrentFileReader({ nodeArguments })
  await reader.read(makeTorrent('first'), 'OurSite', 'owner')
  let turns = 0
  const state = { isRead: false }
  const reading = reader.read(withManyFiles('costly'), 'OurSite', 'owner').finally(() => (state.isRead = true))
  while (!state.isRead) {
    turns += 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(turns).toBeGreaterThan(10)
  const { fileCount, firstFiles, fileList } = await reading
  expect([fileCount, firstFiles.length, firstFiles[999]]).toEqual([
    50_000,
    1_000,
    { path: 'folder/file 999.bin', size: 1 },
  ])
  expect((JSON.parse(Buffer.from(fileList).toString()) as unknown[])[49_999]).toEqual(['folder/file 49999.bin', 1])
})

test('gives up a file that takes too long, and reads the next one', async () => {
  reader = createTorrentFileReader({ nodeArguments, timeoutMs: 1 })
  const late = reader.read(withManyFiles('late', 20_000), 'OurSite', 'owner')
  await expect(late).rejects.toMatchObject(
    refusal('UNAVAILABLE', 'The file could not be read in time. Try again later.'),
  )
  await reader.close()
  reader = createTorrentFileReader({ nodeArguments })
  expect((await reader.read(makeTorrent('next'), 'OurSite', 'owner')).name).toBe('next')
})

test('replaces a thread that takes too much memory', async () => {
  reader = createTorrentFileReader({ nodeArguments, heapMb: 32 })
  const large = reader.read(withManyFiles('large'), 'OurSite', 'owner')
  await expect(large).rejects.toMatchObject(refusal('BAD_REQUEST', 'torrent: Reading the file takes too much memory.'))
  expect((await reader.read(makeTorrent('next'), 'OurSite', 'owner')).name).toBe('next')
})

test('closing refuses waiting files', async () => {
  reader = createTorrentFileReader({ nodeArguments })
  const waiting = Promise.allSettled(['a', 'b', 'c'].map((name) => reader.read(makeTorrent(name), 'OurSite', 'owner')))
  await reader.close()
  const stopping = { reason: refusal('UNAVAILABLE', 'The service is stopping.') }
  expect(await waiting).toMatchObject([stopping, stopping, stopping])
  await expect(reader.read(makeTorrent('d'), 'OurSite', 'owner')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})
