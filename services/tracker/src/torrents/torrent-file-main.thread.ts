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
  const place = placeIn(bytes.buffer)
  const content = {
    ...read.content,
    info: place.put(info),
    pieceLayers: pieceLayers && place.put(pieceLayers),
    fileList: place.put(fileList),
  }
  parentPort?.postMessage({ content }, place.moved)
})

/**
 * Puts what was read of a file where the file was, if that memory is shared. The file itself is not needed any more, and all
 * parts are copies. What does not fit is moved; copying takes as long in the other thread as here.
 */
function placeIn(memory: ArrayBufferLike) {
  const moved: ArrayBuffer[] = []
  const free = memory instanceof SharedArrayBuffer ? new Uint8Array(memory) : new Uint8Array()
  let used = 0
  return {
    moved,
    put(part: Uint8Array): Uint8Array {
      if (part.length <= free.length - used) {
        const place = free.subarray(used, used + part.length)
        place.set(part)
        used += part.length
        return place
      }
      const own = new Uint8Array(part)
      moved.push(own.buffer)
      return own
    },
  }
}
