import { createHash } from 'node:crypto'
import { copyFileSync, createReadStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ManagedProcess } from '../processes/managed-process.ts'
import { PAYLOAD, startClient } from './aria2.ts'

/** A file that is transferred from one real BitTorrent client to another. */
export interface Transfer {
  /** The .torrent as the uploader downloads it, with the uploader's announce URL. */
  seedTorrent: Buffer
  /** The same torrent with the announce URL of the member who wants the file. */
  leechTorrent: Buffer
  /** The one file the torrent describes. */
  file: string
  /** Gets a folder per client, with what it wrote and the leecher's copy. */
  workDir: string
  timeoutMs: number
  /** The address of both clients, 127.0.0.1 by default; another one where the tracker sees them under that one. */
  address?: string
}

/** The result of a transfer. */
export interface Transferred {
  sha256: string
  elapsedMs: number
}

/**
 * Lets one aria2 seed the file and another one download it, and returns when the second has the same bytes. They can only
 * have found each other through the tracker of the torrents. An error contains what both clients wrote.
 */
export async function transferFile({ workDir, address = '127.0.0.1', ...transfer }: Transfer): Promise<Transferred> {
  const started = performance.now()
  const [seedFolder, leechFolder] = [join(workDir, 'seeder'), join(workDir, 'leecher')]
  mkdirSync(seedFolder, { recursive: true })
  copyFileSync(transfer.file, join(seedFolder, PAYLOAD))
  const seeder = await startClient({ role: 'seeder', torrent: transfer.seedTorrent, folder: seedFolder, address })
  let leecher: ManagedProcess | undefined
  try {
    leecher = await startClient({ role: 'leecher', torrent: transfer.leechTorrent, folder: leechFolder, address })
    await finished(seeder, leecher, transfer.timeoutMs)
    const [sent, received] = await Promise.all([sha256(transfer.file), sha256(join(leechFolder, PAYLOAD))])
    if (sent !== received) throw new Error(`the leecher got other bytes: ${received} instead of ${sent}`)
    return { sha256: received, elapsedMs: Math.round(performance.now() - started) }
  } catch (cause) {
    const output = [seeder, leecher].map((client) => (client ? `--- ${client.name}\n${client.logTail(60)}` : ''))
    throw new Error([cause instanceof Error ? cause.message : String(cause), ...output].join('\n'), { cause })
  } finally {
    await Promise.all([seeder.stop(), leecher?.stop()])
  }
}

async function finished(seeder: ManagedProcess, leecher: ManagedProcess, timeoutMs: number): Promise<void> {
  const timer = new AbortController()
  const late = sleep(timeoutMs, undefined, { signal: timer.signal }).then(
    () => `the file did not arrive within ${timeoutMs} ms`,
    () => undefined,
  )
  const failure = await Promise.race([
    leecher.exited.then(({ code }) => (code === 0 ? undefined : `the leecher ended with code ${String(code)}`)),
    seeder.exited.then(({ code }) => `the seeder ended with code ${String(code)}`),
    late,
  ])
  timer.abort()
  if (failure !== undefined) throw new Error(failure)
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
