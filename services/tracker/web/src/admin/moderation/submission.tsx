import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatBytes, formatExactTime, formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { Details, type Fact } from '@vault-and-tracker/web-kit/layout'
import type { Torrent } from '../../api/client.ts'
import { categories, flatten, ownUser } from '../../api/queries.ts'
import { numbering } from '../../release/numbering.ts'
import { BreakableName, ReleaseTags } from '../../release/release-tags.tsx'
import { moderatedFiles } from './queries.ts'

export function Submission({ torrent }: { torrent: Torrent }) {
  const { name, release, description, state, stateReason } = torrent
  return (
    <>
      <h2 className="submission-name">
        <BreakableName name={name} />
      </h2>
      {stateReason !== null && (
        <p className="notice">{state === 'rejected' ? `Rejected: ${stateReason}` : stateReason}</p>
      )}
      <ReleaseTags release={release} />
      <Details
        facts={[
          ...factsOf(torrent),
          ['Category', <Category slug={torrent.category} />],
          ['Uploader', <Uploader name={torrent.uploader} />],
        ]}
      />
      <h3>Description</h3>
      {description === '' ? <p className="muted">No description.</p> : <p className="description">{description}</p>}
      <h3>
        {formatNumberOf(torrent.files, 'file')}, {formatBytes(torrent.size)}
      </h3>
      <Files id={torrent.id} />
    </>
  )
}

function factsOf({ release, created, imdb, tmdb, tvdb }: Torrent): readonly Fact[] {
  const ids = [imdb, tmdb === null ? null : `TMDB ${tmdb}`, tvdb === null ? null : `TVDB ${tvdb}`]
  const known = ids.filter((id) => id !== null)
  return [
    ['Parsed title', release.title ?? 'Unknown'],
    ...numbering(release),
    ...(known.length === 0 ? [] : [['Ids', known.join(', ')] as const]),
    ['Uploaded', formatExactTime(created)],
  ]
}

function Category({ slug }: { slug: string }) {
  const { data: tree = [] } = useQuery(categories)
  return flatten(tree).find((entry) => entry.slug === slug)?.path ?? (slug || 'None')
}

function Uploader({ name }: { name: string | null }) {
  const { data: user } = useQuery(ownUser)
  if (name === null) return 'Deleted account'
  if (user?.role !== 'admin') return name
  return (
    <Link to="/admin/users" search={{ search: name }}>
      {name}
    </Link>
  )
}

function Files({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(moderatedFiles(id))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={4} label="Loading files…" />
  return (
    <ul className="submission-files" aria-label="Files">
      {data.items.map(({ path, size }) => (
        <li key={path}>
          <span>{path}</span>
          <span className="muted">{formatBytes(size)}</span>
        </li>
      ))}
      {data.total > data.items.length && (
        <li>
          <Link to="/torrents/$id" params={{ id }} search={{ tab: 'files' }}>
            View all {formatNumberOf(data.total, 'file')}
          </Link>
        </li>
      )}
    </ul>
  )
}
