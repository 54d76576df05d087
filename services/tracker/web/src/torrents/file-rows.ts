/** A file of a torrent. */
export type File = { readonly path: string; readonly size: number }

/** A row of the file tree. */
export type FileRow = {
  readonly path: string
  readonly name: string
  /** The number of folders around it. */
  readonly depth: number
  /** Undefined for a folder. */
  readonly size?: number
}

/** The rows of a file tree: each folder once, followed by everything in it, in the order in which the torrent first names it. */
export function fileRows(files: readonly File[]): readonly FileRow[] {
  return rowsIn('', files, 0)
}

/** The rows of the files whose paths start with a folder. @param folder empty, or ending in a slash */
function rowsIn(folder: string, files: readonly File[], depth: number): FileRow[] {
  const entries = new Map<string, File[]>()
  for (const file of files) {
    const slash = file.path.indexOf('/', folder.length)
    const entry = slash === -1 ? file.path : file.path.slice(0, slash + 1)
    const inEntry = entries.get(entry)
    if (inEntry === undefined) entries.set(entry, [file])
    else inEntry.push(file)
  }
  return [...entries].flatMap(([path, inEntry]) => {
    const name = path.slice(folder.length)
    if (!path.endsWith('/')) return inEntry.map(({ size }) => ({ path, name, depth, size }))
    return [{ path, name: name.slice(0, -1), depth }, ...rowsIn(path, inEntry, depth + 1)]
  })
}
