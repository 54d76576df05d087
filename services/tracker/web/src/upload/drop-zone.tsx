import { useEffect, useState } from 'react'

/** Takes a .torrent that is dropped anywhere on the page or chosen from the disk. */
export function DropZone({ file, onFile }: { file: File | undefined; onFile: (file: File) => void }) {
  const take = (files: FileList | null | undefined): void => {
    const [first] = Array.from(files ?? [])
    if (first) onFile(first)
  }
  const isOver = useDrop(take)
  return (
    <div className="drop-zone" data-over={isOver} data-filled={file !== undefined}>
      <label className="button" htmlFor="torrent-file">
        {file ? 'Choose another file' : 'Choose a .torrent file'}
      </label>
      <input
        id="torrent-file"
        className="visually-hidden"
        type="file"
        accept=".torrent,application/x-bittorrent"
        onChange={({ target }) => {
          take(target.files)
          // Otherwise the browser ignores a file that is chosen again.
          target.value = ''
        }}
      />
      <span className="muted">{file ? file.name : 'or drop it here'}</span>
    </div>
  )
}

/** Whether a file is over the page. All of it takes drops, because a browser would open a file that misses the zone. */
function useDrop(onDrop: (files: FileList | undefined) => void): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const listening = new AbortController()
    const listen = (name: 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent) => void): void =>
      addEventListener(name, act, { signal: listening.signal })
    listen('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    })
    // No related element means that the file left the window.
    listen('dragleave', ({ relatedTarget }) => {
      if (relatedTarget === null) setOver(false)
    })
    listen('drop', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setOver(false)
      onDrop(event.dataTransfer.files)
    })
    return () => listening.abort()
  }, [onDrop])
  return isOver
}
