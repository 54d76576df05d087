import { Link } from '@tanstack/react-router'
import { Button } from '@vault-and-tracker/web-kit/form'
import { useEffect, useRef } from 'react'
import type { Torrent } from '../api/client.ts'
import { DownloadLink } from '../release/download-link.tsx'

/** The next step: the tracker's copy has another info hash than the file that was sent. */
export function UploadDone({ torrent, onAnother }: { torrent: Torrent; onAnother: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="card narrow">
      <h1 ref={heading} tabIndex={-1}>
        Seed the tracker’s copy
      </h1>
      <p>
        <Link to="/torrents/$id" params={{ id: torrent.id }}>
          {torrent.name}
        </Link>{' '}
        {torrent.state === 'pending' ? 'is awaiting approval.' : 'is now listed.'}
      </p>
      <p>
        The tracker changed the info hash, so your original file does not work here. Download this copy, add it to your
        client, and point it to the files you already have.
      </p>
      <div className="form-actions">
        <DownloadLink torrent={torrent} className="button" data-kind="main">
          Download .torrent
        </DownloadLink>
        <Button onClick={onAnother}>Upload another torrent</Button>
      </div>
    </div>
  )
}
