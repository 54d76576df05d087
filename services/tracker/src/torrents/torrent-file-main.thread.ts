// What the thread runs that reads .torrent files: one after the other, as they are posted.
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { TorrentJob } from './torrent-file.thread.ts'
import { readTorrent } from './torrent-file.ts'

/** Where processors are short, whoever announces goes first. */
const NICENESS = 10
// Linux has a niceness for each thread; elsewhere it would be that of the process. Few may lower theirs.
if (process.platform === 'linux') setPriority(Math.max(NICENESS, getPriority()))

parentPort?.on('message', ({ bytes, source }: TorrentJob) => {
  const read = readTorrent(bytes, source)
  if (!('content' in read)) {
    parentPort?.postMessage(read)
    return
  }
  const { fileList, info, pieceLayers } = read.content
  const content = {
    ...read.content,
    fileList: own(fileList),
    info: own(info),
    pieceLayers: pieceLayers && own(pieceLayers),
  }
  const moved = [
    content.fileList.buffer,
    content.info.buffer,
    ...(content.pieceLayers ? [content.pieceLayers.buffer] : []),
  ]
  // Moved instead of copied: together they are as large as the file.
  parentPort?.postMessage({ content }, moved)
})

/** The bytes in a memory of their own: that of a small buffer is shared with others. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    ? new Uint8Array(bytes.buffer)
    : new Uint8Array(bytes)
}
