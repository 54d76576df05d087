// Reads a .torrent file, then prints the niceness of each thread of this process: that of the main thread first (proc(5)).
import { readdirSync, readFileSync } from 'node:fs'
import { SOURCE_ARGUMENTS } from '@vault-and-tracker/dev-env'
import { createTorrentFileReader } from '../../src/torrents/torrent-file.thread.ts'
import { makeTorrent } from './make-torrent.ts'

const NICENESS_AFTER_NAME = 16

function nicenessOf(thread: string): number {
  const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[NICENESS_AFTER_NAME])
}

const reader = createTorrentFileReader({ nodeArguments: SOURCE_ARGUMENTS })
await reader.read(makeTorrent('any'), 'OurSite', 'owner')
const threads = readdirSync('/proc/self/task').toSorted((a, b) => Number(a) - Number(b))
process.stdout.write(threads.map((thread) => String(nicenessOf(thread))).join(' '))
await reader.close()
