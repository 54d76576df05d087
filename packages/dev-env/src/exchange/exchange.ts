import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ManagedProcess, startProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'
import { requireProgram } from '../processes/programs.mjs'

/** The name that the file of the torrent gets in a client's folder. */
const PAYLOAD = 'payload'

/** A file that is transferred from one BitTorrent client to another. */
export type Transfer = {
  /** The .torrent with the uploader's announce URL. */
  seedTorrent: Buffer
  /** The same torrent with the announce URL of the downloader. */
  leechTorrent: Buffer
  /** The only file of the torrent. */
  file: string
  /** Gets a folder per client, with its output and the downloaded copy. */
  workDir: string
  timeoutMs: number
  /** The address of both clients as the tracker sees it, 127.0.0.1 by default. */
  address?: string
}

/**
 * Lets one aria2 seed the file and another one download it. They can only find each other through the tracker.
 *
 * @returns once the second has the same bytes
 * @throws Error with the output of both clients
 */
export async function transferFile({
  workDir,
  address = '127.0.0.1',
  ...transfer
}: Transfer): Promise<{ sha256: string; elapsedMs: number }> {
  const started = performance.now()
  const [seedFolder, leechFolder] = [join(workDir, 'seeder'), join(workDir, 'leecher')]
  for (const folder of [seedFolder, leechFolder]) mkdirSync(folder, { recursive: true })
  copyFileSync(transfer.file, join(seedFolder, PAYLOAD))
  const seeder = await startClient('seeder', transfer.seedTorrent, seedFolder, address)
  let leecher: ManagedProcess | undefined
  try {
    leecher = await startClient('leecher', transfer.leechTorrent, leechFolder, address)
    await untilComplete(seeder, leecher, transfer.timeoutMs)
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

/** The leecher ends when it is complete. */
async function untilComplete(seeder: ManagedProcess, leecher: ManagedProcess, timeoutMs: number): Promise<void> {
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

/**
 * Everything by which aria2 could find a peer without the tracker is off, and it does not read the user's configuration. With
 * the tracker's own interval, the first client would learn of the other one much later.
 */
const FIXED = (
  '--no-conf=true --enable-dht=false --enable-dht6=false --enable-peer-exchange=false --bt-enable-lpd=false ' +
  '--bt-tracker-interval=2 --disable-ipv6=true --file-allocation=none --allow-overwrite=true --bt-hash-check-seed=true ' +
  '--seed-ratio=0.0 --bt-stop-timeout=0 --summary-interval=0 --console-log-level=notice --enable-color=false ' +
  '--show-console-readout=false'
).split(' ')

async function startClient(
  role: 'seeder' | 'leecher',
  torrent: Buffer,
  folder: string,
  address: string,
): Promise<ManagedProcess> {
  const torrentFile = join(folder, 'torrent')
  writeFileSync(torrentFile, torrent, { mode: 0o600 })
  const isSeeder = role === 'seeder'
  const args = [
    ...FIXED,
    ...[`--interface=${address}`, `--listen-port=${await freePort()}`, `--dir=${folder}`, `--index-out=1=${PAYLOAD}`],
    `--check-integrity=${isSeeder}`,
    // In minutes: the seeder runs until it is stopped, the leecher ends when it is complete.
    `--seed-time=${isSeeder ? 1440 : 0}`,
    torrentFile,
  ]
  return await startProcess({
    name: `aria2c (${role})`,
    command: await requireProgram('aria2c'),
    args,
    // Without the user's proxy variables, which aria2 would use for its announces.
    env: { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C' },
    cwd: folder,
    logFile: join(folder, 'log'),
    pidFile: join(folder, 'process.json'),
    stopSignal: 'SIGINT',
    graceMs: 5000,
    phase: 0,
  })
}
