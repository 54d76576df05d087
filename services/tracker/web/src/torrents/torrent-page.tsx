import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { formatBytes, formatCount } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Facts, Tabs } from '@vault-and-tracker/web-kit/layout'
import type { Torrent } from '../api/client.ts'
import { categories, flatten, ownUser } from '../api/queries.ts'
import { DownloadLink } from '../release/download-link.tsx'
import { Peers } from '../release/peers.tsx'
import { BreakableName, ReleaseTags } from '../release/release-tags.tsx'
import { About } from './about.tsx'
import { AskForSeeders } from './ask-for-seeders.tsx'
import { Age } from './columns.tsx'
import { Files } from './files.tsx'
import { torrent as torrentQuery } from './queries.ts'
import { ReportButton } from './report-dialog.tsx'
import { BookmarkButton } from './saved/bookmark.tsx'
import { Swarm } from './swarm.tsx'
import { Texts } from './texts.tsx'
import './torrent.css'
import { TorrentActions } from './torrent-actions.tsx'
import { TorrentTags } from './torrent-tags.tsx'

const route = getRouteApi('/torrents/$id')

export function TorrentPage() {
  const { id } = route.useParams()
  const { tab, page = 1 } = route.useSearch()
  const { data: torrent, dataUpdatedAt } = useSuspenseQuery(torrentQuery(id))
  usePageTitle(torrent.name)
  return (
    <article className="torrent">
      <header className="torrent-head">
        <h1>
          <BreakableName name={torrent.name} /> <TorrentTags torrent={torrent} />
        </h1>
        <ReleaseTags release={torrent.release} />
        {torrent.stateReason !== null && <StateReason torrent={torrent} />}
        <TorrentFacts torrent={torrent} now={dataUpdatedAt} />
        <div className="form-actions">
          {torrent.state !== 'rejected' && (
            <DownloadLink torrent={torrent} className="button" data-kind="main">
              Download .torrent
            </DownloadLink>
          )}
          <BookmarkButton torrent={torrent} />
          <AskForSeeders torrent={torrent} />
          <OwnActions torrent={torrent} />
        </div>
      </header>
      <Tabs
        label="Torrent"
        tabs={[
          [undefined, 'About'],
          ['files', `Files (${formatCount(torrent.files)})`],
          ['swarm', 'Swarm'],
          ...(torrent.hasNfo || torrent.hasMediaInfo ? [['texts', textsName(torrent)] as const] : []),
        ]}
        current={tab}
      />
      {tab === 'files' ? (
        <Files id={id} page={page} />
      ) : tab === 'swarm' ? (
        <Swarm torrent={torrent} />
      ) : tab === 'texts' ? (
        <Texts id={id} />
      ) : (
        <About torrent={torrent} />
      )}
    </article>
  )
}

function StateReason({ torrent: { state, stateReason, uploaderId } }: { torrent: Torrent }) {
  const { data: user } = useQuery(ownUser)
  const canCorrect = state === 'rejected' && user?.role === 'member' && user.id === uploaderId
  return (
    <div className="notice">
      <p>
        Reason: <bdi>{stateReason}</bdi>
      </p>
      {canCorrect && <p>If you edit the torrent, moderators will review it again.</p>}
    </div>
  )
}

function TorrentFacts({ torrent, now }: { torrent: Torrent; now: number }) {
  const { data: tree = [] } = useQuery(categories)
  const path = flatten(tree).find(({ slug }) => slug === torrent.category)?.path ?? torrent.category
  return (
    <Facts
      facts={[
        [
          'Category',
          torrent.category === '' ? (
            'None'
          ) : (
            <Link to="/torrents" search={{ category: torrent.category }} dir="auto">
              {path}
            </Link>
          ),
        ],
        ['Size', formatBytes(torrent.size)],
        ['Seeders', <Peers kind="seeders" count={torrent.seeders} />],
        ['Leechers', <Peers kind="leechers" count={torrent.leechers} />],
        ['Snatches', formatCount(torrent.completed)],
        ['Age', <Age time={torrent.created} now={now} />],
        [
          'Uploader',
          torrent.uploaderId === null ? (
            torrent.anonymous ? (
              'Anonymous'
            ) : (
              'Deleted account'
            )
          ) : (
            <>
              <Link to="/users/$id" params={{ id: torrent.uploaderId }}>
                {torrent.uploader}
              </Link>
              {torrent.anonymous && ' (hidden from members)'}
            </>
          ),
        ],
      ]}
    />
  )
}

function OwnActions({ torrent }: { torrent: Torrent }) {
  const { data: user } = useQuery(ownUser)
  if (user === undefined) return null
  const isOwn = user.username === torrent.uploader
  return (
    <>
      {(isOwn || user.role !== 'member') && <TorrentActions torrent={torrent} isStaff={user.role !== 'member'} />}
      {!isOwn && <ReportButton torrent={torrent} />}
    </>
  )
}

function textsName({ hasNfo, hasMediaInfo }: Torrent): string {
  return [hasNfo && 'NFO', hasMediaInfo && 'MediaInfo'].filter(Boolean).join(' and ')
}
