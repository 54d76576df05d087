import { useRef, useState } from 'react'

/** Takes a .torrent: dropped, or chosen with the browser's own dialog. */
export function DropZone({ file, onFile }: { file: File | undefined; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null): void => {
    const [first] = Array.from(files ?? [])
    if (first) onFile(first)
  }
  return (
    <div
      className="drop-zone"
      data-over={isOver}
      data-filled={file !== undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer.files)
      }}
    >
      <label className="button" htmlFor="torrent-file">
        {file ? 'Choose another file' : 'Choose a .torrent file'}
      </label>
      <input
        ref={input}
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
