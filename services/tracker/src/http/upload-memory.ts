/** Where the bytes of one upload are kept while they are received, read and stored. */
export type UploadMemory = {
  /** Adds a chunk. Does nothing after the release: what parses a form may still hand on what it had read. */
  append(chunk: Uint8Array): void
  /** What was added: a view, which is valid until the release. */
  bytes(): Buffer
  /** Gives the memory back. What reads or writes it has ended by then. */
  release(): void
}

/** Hands out memory for uploads. */
export type UploadMemories = { readonly take: () => UploadMemory }

/** As many as one member uploads at a time. More are left to the collector: they were needed for a moment. */
const KEPT = 3

/**
 * Creates the memories: at most `regionBytes` for each upload, of which some are kept for later ones. The system backs
 * them only as far as they were written to.
 *
 * They are shared between threads, and V8 does not count them: what it counts makes it collect the whole heap, which holds
 * up the event loop.
 */
export function createUploadMemories(regionBytes: number): UploadMemories {
  // The last one is used first, so that few are written to.
  const idle: SharedArrayBuffer[] = []

  return {
    take: () => {
      let region: SharedArrayBuffer | undefined
      let length = 0
      let isReleased = false
      return {
        append(chunk) {
          if (isReleased) return
          region ??= idle.pop() ?? new SharedArrayBuffer(regionBytes)
          new Uint8Array(region).set(chunk, length)
          length += chunk.length
        },
        bytes: () => (region === undefined ? Buffer.alloc(0) : Buffer.from(region, 0, length)),
        release() {
          if (isReleased) return
          isReleased = true
          if (region !== undefined && idle.length < KEPT) idle.push(region)
          region = undefined
        },
      }
    },
  }
}
