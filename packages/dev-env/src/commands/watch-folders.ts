import { existsSync, type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'

/**
 * Calls back for every file that is written below some folders, also in folders that are made later. Each folder has a
 * watcher of its own, because on Linux a recursive one of Node 20 loses a file that an editor replaces.
 *
 * @param onChange gets the path of the file
 * @returns a function that ends it
 */
export function watchFolders(folders: readonly string[], onChange: (file: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>()
  const forget = (path: string): void => {
    watchers.get(path)?.close()
    watchers.delete(path)
  }
  const follow = (folder: string): void => {
    if (watchers.has(folder)) return
    const watcher = watch(folder, (_event, name) => {
      if (name === null) return
      const path = join(folder, name)
      if (!existsSync(path)) forget(path)
      if (isFolder(path)) follow(path)
      else onChange(path)
    })
    watcher.on('error', () => forget(folder))
    watchers.set(folder, watcher)
    for (const name of readdirSync(folder)) if (isFolder(join(folder, name))) follow(join(folder, name))
  }
  for (const folder of folders) follow(folder)
  return () => {
    for (const path of watchers.keys()) forget(path)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
