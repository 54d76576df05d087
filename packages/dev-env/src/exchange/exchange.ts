import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ManagedProcess, startProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'

/** The name the one file of the torrent gets in a client's folder, whatever the torrent calls it. */
const PAYLOAD = 'payload'

/** A file that is transferred from one real BitTorrent client to another. */
export type Transfer = {
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
export type Transferred = {
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
  for (const folder of [seedFolder, leechFolder]) mkdirSync(folder, { recursive: true })
  copyFileSync(transfer.file, join(seedFolder, PAYLOAD))
  const seeder = await startClient('seeder', transfer.seedTorrent, seedFolder, address)
  let leecher: ManagedProcess | undefined
  try {
    leecher = await startClient('leecher', transfer.leechTorrent, leechFolder, address)
    await finished(seeder, leecher, transfer.timeoutMs)
    const [sent, received] = [sha256(transfer.file), sha256(join(leechFolder, PAYLOAD))]
    if (sent !== received) throw new Error(`the leecher got other bytes: ${received} instead of ${sent}`)
    return { sha256: received, elapsedMs: Math.round(performance.now() - started) }
  } catch (cause) {
    const output = [seeder, leecher].map((client) => (client ? `--- ${client.name}\n${client.logTail(60)}` : ''))
    throw new Error([cause instanceof Error ? cause.message : String(cause), ...output].join('\n'), { cause })
  } finally {
    await Promise.all([seeder.stop(), leecher?.stop()])
  }
}

/** Waits until the leecher ends by itself, which it does when it is complete. */
async function finished(seeder: ManagedProcess, leecher: ManagedProcess, timeoutMs: number): Promise<void> {
  const timer = new AbortController()
  const failure = await Promise.race([
    leecher.exited.then(({ code }) => (code === 0 ? undefined : `the leecher ended with code ${String(code)}`)),
    seeder.exited.then(({ code }) => `the seeder ended with code ${String(code)}`),
    sleep(timeoutMs, `the file did not arrive within ${timeoutMs} ms`, { signal: timer.signal }).catch(() => undefined),
  ])
  timer.abort()
  if (failure !== undefined) throw new Error(failure)
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/** Everything by which aria2 could find a peer without the tracker is off, and it does not read the user's configuration. */
const WITHOUT_DISCOVERY =
  '--no-conf=true --enable-dht=false --enable-dht6=false --enable-peer-exchange=false --bt-enable-lpd=false'.split(' ')

/** With the tracker's own interval, the first client would get the other as a peer only much later. */
const FIXED = (
  '--bt-tracker-interval=2 --disable-ipv6=true --file-allocation=none --allow-overwrite=true --bt-hash-check-seed=true ' +
  '--seed-ratio=0.0 --bt-stop-timeout=0 --summary-interval=0 --console-log-level=notice --enable-color=false ' +
  '--show-console-readout=false'
).split(' ')

/** Starts aria2 on one address. */
async function startClient(
  role: 'seeder' | 'leecher',
  torrent: Buffer,
  folder: string,
  address: string,
): Promise<ManagedProcess> {
  const torrentFile = join(folder, 'torrent')
  writeFileSync(torrentFile, torrent, { mode: 0o600 })
  const seeds = role === 'seeder'
  const args = [
    ...WITHOUT_DISCOVERY,
    ...FIXED,
    `--interface=${address}`,
    `--listen-port=${await freePort()}`,
    `--dir=${folder}`,
    `--index-out=1=${PAYLOAD}`,
    `--check-integrity=${seeds}`,
    // In minutes: the seeder runs until it is stopped, the leecher ends when it is complete.
    `--seed-time=${seeds ? 1440 : 0}`,
    torrentFile,
  ]
  return await startProcess({
    name: `aria2c (${role})`,
    command: 'aria2c',
    args,
    // Without the user's proxy variables, which aria2 would send its announces through.
    env: { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C' },
    cwd: folder,
    logFile: join(folder, 'log'),
    pidFile: join(folder, 'process.json'),
    stopSignal: 'SIGINT',
    graceMs: 5000,
    phase: 0,
  })
}
