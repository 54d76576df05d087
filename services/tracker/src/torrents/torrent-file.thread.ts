import { parentPort, Worker, workerData } from 'node:worker_threads'
import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { apiError } from '../errors.ts'
import {
  type ReadTorrent,
  readTorrent,
  refusedTorrent,
  type TorrentContent,
  type TorrentFileReader,
} from './torrent-file.ts'

/** A message to the thread. */
type TorrentJob = { readonly bytes: Uint8Array; readonly source: string }

/** The heap of the thread. The costliest file takes a third of it. */
const MAX_HEAP_MB = 512
/** The costliest file takes a second on an idle machine. */
const TIMEOUT_MS = 30_000

/** The `workerData` of the thread, which runs this same file. */
const READER = 'torrent-file-reader'

type Waiting = TorrentJob & {
  readonly resolve: (content: TorrentContent) => void
  readonly reject: (error: Error) => void
}

/**
 * Creates the reader. Its thread starts with the first file, and is replaced after a file that took too long or too much
 * memory. It reads one file at a time; owners take turns. The upload slots bound the queue.
 *
 * @param options `nodeArguments` are Node's arguments for the thread; those of this process by default
 */
export function createTorrentFileReader(
  options: { nodeArguments?: readonly string[]; timeoutMs?: number; heapMb?: number } = {},
): TorrentFileReader {
  /** Jobs by owner, in the order of their turns. */
  const waiting = new Map<string, Waiting[]>()
  let thread: Worker | undefined
  let current: Waiting | undefined
  let deadline: NodeJS.Timeout | undefined
  let isClosed = false

  function start(): Worker {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: READER,
      resourceLimits: { maxOldGenerationSizeMb: options.heapMb ?? MAX_HEAP_MB },
      ...(options.nodeArguments && { execArgv: [...options.nodeArguments] }),
    })
    worker.on('message', (read: ReadTorrent) => {
      if (worker !== thread) return
      settle((job) => ('content' in read ? job.resolve(read.content) : job.reject(refusedTorrent(read.problem))))
    })
    worker.on('error', (error: Error) => {
      const isTooLarge = errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY'
      giveUp(worker, isTooLarge ? refusedTorrent('Reading the file takes too much memory') : error)
    })
    worker.on('exit', () => giveUp(worker, stopping()))
    // A process may end while its thread is idle.
    worker.unref()
    return worker
  }

  /** Terminates a thread and fails its job. The next job gets a new thread. */
  function giveUp(worker: Worker, error: Error): void {
    if (worker !== thread) return
    thread = undefined
    void worker.terminate()
    settle((job) => job.reject(error))
  }

  function settle(how: (job: Waiting) => void): void {
    clearTimeout(deadline)
    const job = current
    current = undefined
    if (job !== undefined) how(job)
    next()
  }

  function next(): void {
    if (current !== undefined) return
    current = takeTurn(waiting)
    if (current === undefined) return
    const worker = (thread ??= start())
    const { bytes, source } = current
    deadline = setTimeout(
      () => giveUp(worker, apiError('UNAVAILABLE', 'The file could not be read in time. Try again later.')),
      options.timeoutMs ?? TIMEOUT_MS,
    )
    worker.postMessage({ bytes, source })
  }

  return {
    read: (bytes, source, owner) =>
      new Promise((resolve, reject) => {
        if (isClosed) {
          reject(stopping())
          return
        }
        waiting.set(owner, [...(waiting.get(owner) ?? []), { bytes, source, resolve, reject }])
        next()
      }),
    close: async () => {
      isClosed = true
      for (const { reject } of [...waiting.values()].flat()) reject(stopping())
      waiting.clear()
      await thread?.terminate()
    },
  }
}

/** Takes the first job of the next owner, and moves the owner to the end of the queue. */
function takeTurn(waiting: Map<string, Waiting[]>): Waiting | undefined {
  const [turn] = waiting
  if (turn === undefined) return undefined
  const [owner, [job, ...others]] = turn
  waiting.delete(owner)
  if (others.length > 0) waiting.set(owner, others)
  return job
}

function stopping(): Error {
  return apiError('UNAVAILABLE', 'The service is stopping.')
}

/** Runs in the thread. */
function serve({ bytes, source }: TorrentJob): void {
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
}

if (workerData === READER) parentPort?.on('message', serve)
