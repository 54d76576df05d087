import { useQuery } from '@tanstack/react-query'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { torrentDetails } from './torrent-queries.ts'

/** The NFO and MediaInfo of a torrent as they are. */
export function Texts({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(torrentDetails(id))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={12} label="Loading texts…" />
  const texts = [
    ['NFO', data.nfo],
    ['MediaInfo', data.mediaInfo],
  ] as const
  return texts.map(([name, text]) =>
    text === null ? null : (
      <div key={name} className="about-part">
        <h2>{name}</h2>
        {/* A scrollable area must be reachable by keyboard. */}
        <pre className="plain-text" tabIndex={0} role="region" aria-label={`${name} as text`}>
          {text}
        </pre>
      </div>
    ),
  )
}
