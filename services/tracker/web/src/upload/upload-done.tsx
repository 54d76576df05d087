import { Link } from '@tanstack/react-router'
import { Button } from '@vault-and-tracker/web-kit/form'
import { useEffect, useRef } from 'react'
import type { Torrent } from '../api/client.ts'

/** The one next step: our copy has another info hash than the file that was sent. */
export function UploadDone({ torrent, onAnother }: { torrent: Torrent; onAnother: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="narrow">
      <h1 ref={heading} tabIndex={-1}>
        Now seed our copy
      </h1>
      <p>
        <Link to="/torrents/$id" params={{ id: torrent.id }}>
          {torrent.name}
        </Link>{' '}
        {torrent.state === 'pending' ? 'waits for a moderator.' : 'is in the catalogue.'}
      </p>
      <p>
        The tracker made it private and put your passkey in. Its info hash differs from your file, so add this copy to
        your client and point it at the data you have.
      </p>
      <div className="form-actions">
        <a className="button" data-kind="main" href={`/api/torrents/${torrent.id}/download`} download>
          Download our copy
        </a>
        <Button onClick={onAnother}>Upload another</Button>
      </div>
    </div>
  )
}
