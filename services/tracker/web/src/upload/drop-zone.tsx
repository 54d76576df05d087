import { useEffect, useState } from 'react'

/** Takes a .torrent: dropped anywhere on the page, or chosen with the browser's own dialog. */
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
        onChange={({ target }) => take(target.files)}
      />
      <span className="muted">{file ? file.name : 'or drop it here'}</span>
    </div>
  )
}

/** Whether a file is held over the page. A browser opens a file that is dropped beside its place, and the page is gone. */
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
    // There is no other element when the file leaves the window.
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
