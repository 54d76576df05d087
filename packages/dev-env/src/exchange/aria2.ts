import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ManagedProcess, startProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'

/** The name the one file of the torrent gets in a client's folder, whatever the torrent calls it. */
export const PAYLOAD = 'payload'

/** One BitTorrent client, its torrent and its folder. */
export interface ClientOptions {
  role: 'seeder' | 'leecher'
  torrent: Buffer
  /** Holds the payload, the client's log and its torrent file. */
  folder: string
  /** The address the client listens on and calls from. */
  address: string
}

/**
 * Starts aria2 on one address. Everything by which it could find a peer without the tracker is off: distributed hash
 * table, peer exchange and local discovery. It does not read the user's configuration.
 */
export async function startClient({ role, torrent, folder, address }: ClientOptions): Promise<ManagedProcess> {
  mkdirSync(folder, { recursive: true })
  const torrentFile = join(folder, 'torrent')
  writeFileSync(torrentFile, torrent, { mode: 0o600 })
  const seeds = role === 'seeder'
  const args = [
    '--no-conf=true',
    '--enable-dht=false',
    '--enable-dht6=false',
    '--enable-peer-exchange=false',
    '--bt-enable-lpd=false',
    '--disable-ipv6=true',
    `--interface=${address}`,
    `--listen-port=${await freePort()}`,
    // Otherwise the first client would get the other as a peer only after the tracker's interval.
    '--bt-tracker-interval=2',
    `--dir=${folder}`,
    `--index-out=1=${PAYLOAD}`,
    '--file-allocation=none',
    '--allow-overwrite=true',
    `--check-integrity=${seeds}`,
    '--bt-hash-check-seed=true',
    // In minutes: the seeder runs until it is stopped, the leecher ends when it is complete.
    `--seed-time=${seeds ? 1440 : 0}`,
    '--seed-ratio=0.0',
    '--bt-stop-timeout=0',
    '--summary-interval=0',
    '--console-log-level=notice',
    '--enable-color=false',
    '--show-console-readout=false',
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
