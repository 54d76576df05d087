import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import {
  formatBytes,
  formatCount,
  formatDate,
  formatExactTime,
  formatNumberOf,
} from '@vault-and-tracker/web-kit/format'
import { Details, type Fact } from '@vault-and-tracker/web-kit/layout'
import type { Torrent } from '../../api/client.ts'
import { categories, flatten, ownUser } from '../../api/queries.ts'
import { Description } from '../../release/description.tsx'
import { numbering } from '../../release/numbering.ts'
import { RelatedList } from '../../release/related-list.tsx'
import { BreakableName, ReleaseTags } from '../../release/release-tags.tsx'
import { Notes } from '../parts/notes.tsx'
import { moderatedFiles, related, uploaderRecord } from './queries.ts'
import { VERDICT_NAMES } from './verdict-names.ts'

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
          ['Uploader', <Uploader name={torrent.uploader} isHidden={torrent.anonymous} />],
        ]}
      />
      {torrent.uploader !== null && <UploaderRecord id={torrent.id} />}
      <Verdict torrent={torrent} />
      <h3>Description</h3>
      <Description text={description} />
      <h3>
        {formatNumberOf(torrent.files, 'file')}, {formatBytes(torrent.size)}
      </h3>
      <Files id={torrent.id} />
      <h3>Staff notes</h3>
      <Notes key={torrent.id} about={{ type: 'torrent', id: torrent.id }} />
    </>
  )
}

function factsOf({ release, created, imdb, tmdb, tvdb }: Torrent): readonly Fact[] {
  const ids = [imdb, tmdb === null ? null : `TMDB ${tmdb}`, tvdb === null ? null : `TVDB ${tvdb}`]
  const known = ids.filter((id) => id !== null)
  return [
    ['Parsed title', release.title ?? 'Unknown'],
    ...numbering(release),
    ...(known.length === 0 ? [] : [['IDs', known.join(', ')] as const]),
    ['Uploaded', formatExactTime(created)],
  ]
}

/** Other releases of the title as of now, and what the uploader said about a duplicate. */
function Verdict({ torrent }: { torrent: Torrent }) {
  const { data } = useQuery(related(torrent.id))
  if (torrent.verdict === null && (data ?? []).length === 0) return null
  return (
    <>
      <h3>Related releases</h3>
      {torrent.verdict !== null && <p>Duplicate check at upload: {VERDICT_NAMES[torrent.verdict].toLowerCase()}</p>}
      {torrent.duplicateReason !== null && <p className="description">Reason: {torrent.duplicateReason}</p>}
      {data !== undefined && data.length > 0 && <RelatedList related={data} />}
    </>
  )
}

function Category({ slug }: { slug: string }) {
  const { data: tree = [] } = useQuery(categories)
  return <bdi>{flatten(tree).find((entry) => entry.slug === slug)?.path ?? (slug || 'None')}</bdi>
}

function Uploader({ name, isHidden }: { name: string | null; isHidden: boolean }) {
  const { data: user } = useQuery(ownUser)
  if (name === null) return 'Deleted account'
  const hidden = isHidden ? ' (hidden from members)' : ''
  if (user?.role !== 'admin') return `${name}${hidden}`
  return (
    <>
      <Link to="/admin/users" search={{ search: name }}>
        {name}
      </Link>
      {hidden}
    </>
  )
}

/** What staff decided about the uploader's torrents before. */
function UploaderRecord({ id }: { id: string }) {
  const { data } = useQuery(uploaderRecord(id))
  if (data === undefined) return null
  const { id: uploader, created, approved, pending, rejected, deleted, warnings } = data
  return (
    <p className="muted" aria-label="Uploader’s record" role="note">
      Member since {formatDate(created)} · {formatCount(approved)} approved · {formatCount(pending)} pending ·{' '}
      {formatCount(rejected)} rejected · {formatCount(deleted)} deleted in 30 days ·{' '}
      {formatNumberOf(warnings, 'warning')} ·{' '}
      <Link to="/users/$id" params={{ id: uploader }}>
        View uploader
      </Link>
    </p>
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
