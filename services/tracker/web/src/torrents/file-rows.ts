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

/** The rows of a file tree: each folder once, before the first file in it. Files of a folder follow each other. */
export function fileRows(files: readonly File[]): readonly FileRow[] {
  const rows: FileRow[] = []
  const shown = new Set<string>()
  for (const { path, size } of files) {
    const names = path.split('/')
    const name = names.pop() ?? ''
    for (const [depth, folder] of names.entries()) {
      const folderPath = `${names.slice(0, depth + 1).join('/')}/`
      if (!shown.has(folderPath)) rows.push({ path: folderPath, name: folder, depth })
      shown.add(folderPath)
    }
    rows.push({ path, name, depth: names.length, size })
  }
  return rows
}
