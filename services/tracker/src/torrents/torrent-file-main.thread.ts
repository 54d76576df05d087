// The thread that reads .torrent files, one after the other.
import { parentPort } from 'node:worker_threads'
import type { TorrentJob } from './torrent-file.thread.ts'
import { readTorrent } from './torrent-file.ts'

parentPort?.on('message', ({ bytes, source }: TorrentJob) => {
  const read = readTorrent(bytes, source)
  if (!('content' in read)) {
    parentPort?.postMessage(read)
    return
  }
  const { info, pieceLayers, fileList } = read.content
  // Copies, so that the parts can be moved to the other thread without the rest of the file.
  const parts = {
    info: new Uint8Array(info),
    pieceLayers: pieceLayers && new Uint8Array(pieceLayers),
    fileList: new Uint8Array(fileList),
  }
  const moved = Object.values(parts).flatMap((part) => part?.buffer ?? [])
  parentPort?.postMessage({ content: { ...read.content, ...parts } }, moved)
})
