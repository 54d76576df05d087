import { TorrentError } from './error.ts'

/** Longest path of one file in bytes of UTF-8: the lowest bound among the operating systems, and of what we store. */
const MAX_PATH_BYTES = 1024
/** Deepest path of one file, which bounds the work of comparing folders. */
const MAX_COMPONENTS = 64

/**
 * True for a name that denotes something directly inside a folder on every operating system: not empty, not `.` or
 * `..`, and without slash, backslash and NUL, with which a client could be led out of its download folder.
 */
export function isPlainName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  return !name.includes('/') && !name.includes('\\') && !name.includes('\0')
}

/**
 * Joins checked components to the path that is shown and stored.
 *
 * @throws {TorrentError} `invalid_path` for none or more than 64 components, one that is not a plain name, or more
 *   than 1024 bytes.
 */
export function joinPath(components: readonly string[]): string {
  if (components.length === 0 || components.length > MAX_COMPONENTS || !components.every(isPlainName)) {
    throw new TorrentError('invalid_path')
  }
  const path = components.join('/')
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new TorrentError('invalid_path')
  return path
}

/**
 * Refuses a list in which one path is there twice, or is a folder of another: no disk can hold both.
 *
 * @throws {TorrentError} `duplicate_path`
 */
export function assertDistinctPaths(paths: Iterable<string>): void {
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const path of paths) {
    if (files.has(path)) throw new TorrentError('duplicate_path')
    files.add(path)
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash)
      // Its own folders are in the set already.
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  for (const folder of folders) {
    if (files.has(folder)) throw new TorrentError('duplicate_path')
  }
}
