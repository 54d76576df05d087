import { TorrentError } from './error.ts'

/** Maximum length of a path in bytes of UTF-8: the lowest limit of the operating systems. */
const MAX_PATH_BYTES = 1024
/** Maximum depth of a path, which bounds the work of comparing folders. */
const MAX_COMPONENTS = 64

/**
 * Whether a name denotes an entry of a folder on every operating system: not empty, `.` or `..`, and without slash,
 * backslash and NUL, which could lead a client out of its download folder.
 */
export function isPlainName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  return !name.includes('/') && !name.includes('\\') && !name.includes('\0')
}

/**
 * Checks components and joins them into a path.
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
 * Refuses a list that contains a path twice, or a path that is a folder of another, because no disk can store both.
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
      // Its parent folders are already in the set.
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  for (const folder of folders) {
    if (files.has(folder)) throw new TorrentError('duplicate_path')
  }
}
