import { Link } from '@tanstack/react-router'
import { formatAge, formatBytes, formatCount, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { Icon } from '@vault-and-tracker/web-kit/icon'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { ListedTorrent } from '../api/client.ts'
import type { CategoryEntry } from '../api/queries.ts'
import { CategoryIcon } from '../release/category-icon.tsx'
import { DownloadLink } from '../release/download-link.tsx'
import { Peers } from '../release/peers.tsx'
import { BreakableName, RowTags } from '../release/release-tags.tsx'
import { BookmarkStar } from './saved/bookmark.tsx'
import { TorrentTags } from './torrent-tags.tsx'

/** The columns of the list. @param known the categories by slug */
export function torrentColumns(
  known: ReadonlyMap<string, CategoryEntry>,
  now: number,
): readonly Column<ListedTorrent>[] {
  return [
    {
      head: 'Name',
      isMain: true,
      cell: (torrent) => (
        <span className="torrent-name">
          <CategoryIcon family={known.get(torrent.category)?.family} />
          <span>
            <Link to="/torrents/$id" params={{ id: torrent.id }} className="row-link" preload={false}>
              <BreakableName name={torrent.name} />
            </Link>{' '}
            <TorrentTags torrent={torrent} />
            <RowTags release={torrent.release} />
          </span>
        </span>
      ),
    },
    {
      isEvident: true,
      head: 'Category',
      cell: ({ category }) => <bdi className="muted">{known.get(category)?.path ?? category}</bdi>,
    },
    { isEvident: true, head: 'Size', align: 'end', sort: 'size', cell: ({ size }) => formatBytes(size) },
    {
      isEvident: true,
      head: 'Seeders',
      align: 'end',
      sort: 'seeders',
      cell: ({ seeders }) => <Peers kind="seeders" count={seeders} />,
    },
    {
      isEvident: true,
      head: 'Leechers',
      align: 'end',
      sort: 'leechers',
      cell: ({ leechers }) => <Peers kind="leechers" count={leechers} />,
    },
    {
      head: 'Snatches',
      align: 'end',
      sort: 'completed',
      cell: ({ completed }) => formatCount(completed),
      isMinor: true,
    },
    {
      isEvident: true,
      head: 'Age',
      align: 'end',
      sort: 'created',
      orders: ['oldest first', 'newest first'],
      cell: ({ created }) => <Age time={created} now={now} />,
    },
    {
      head: 'Actions',
      isEvident: true,
      cell: (torrent) => (
        <span className="row-actions-cell">
          <BookmarkStar torrent={torrent} />
          <DownloadLink torrent={torrent} className="row-action download">
            <Icon name="download" />
            <span className="visually-hidden">Download .torrent of {torrent.name}</span>
          </DownloadLink>
        </span>
      ),
    },
  ]
}

/** An age, with the exact time on hover and for screen readers. */
export function Age({ time, now }: { time: string; now: number }) {
  const exact = formatExactTime(time)
  return (
    <time dateTime={time} title={exact}>
      <span aria-hidden="true">{formatAge(time, now)}</span>
      <span className="visually-hidden">{exact}</span>
    </time>
  )
}
