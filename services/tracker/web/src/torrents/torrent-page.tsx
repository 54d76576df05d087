import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Copyable } from '@vault-and-tracker/web-kit/form'
import { formatBytes, formatCount } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Details, Facts, Tabs } from '@vault-and-tracker/web-kit/layout'
import type { Torrent } from '../api/client.ts'
import { categories, flatten, ownUser } from '../api/queries.ts'
import { DownloadLink } from '../release/download-link.tsx'
import { Peers } from '../release/peers.tsx'
import { BreakableName, ReleaseTags } from '../release/release-tags.tsx'
import { AskForSeeders } from './ask-for-seeders.tsx'
import { Age } from './columns.tsx'
import { Files } from './files.tsx'
import { torrent as torrentQuery } from './queries.ts'
import { Swarm } from './swarm.tsx'
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
        {torrent.stateReason !== null && <p className="notice">Reason: {torrent.stateReason}</p>}
        <TorrentFacts torrent={torrent} now={dataUpdatedAt} />
        <div className="form-actions">
          <DownloadLink torrent={torrent} className="button" data-kind="main">
            Download .torrent
          </DownloadLink>
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
        ]}
        current={tab}
      />
      {tab === 'files' ? (
        <Files id={id} page={page} />
      ) : tab === 'swarm' ? (
        <Swarm torrent={torrent} />
      ) : (
        <About torrent={torrent} />
      )}
    </article>
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
            <Link to="/torrents" search={{ category: torrent.category }}>
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
            'Deleted account'
          ) : (
            <Link to="/users/$id" params={{ id: torrent.uploaderId }}>
              {torrent.uploader}
            </Link>
          ),
        ],
      ]}
    />
  )
}

function OwnActions({ torrent }: { torrent: Torrent }) {
  const { data: user } = useQuery(ownUser)
  const mayEdit = user !== undefined && (user.role !== 'member' || user.username === torrent.uploader)
  return mayEdit ? <TorrentActions torrent={torrent} isStaff={user.role !== 'member'} /> : null
}

function About({ torrent }: { torrent: Torrent }) {
  const { description, infoHash, infoHashV2, imdb, tmdb, tvdb } = torrent
  const hashes = [
    ['Info hash', infoHash],
    ['Info hash v2', infoHashV2],
  ] as const
  const others = [
    ['IMDb', imdb],
    ['TMDB', tmdb],
    ['TVDB', tvdb],
  ] as const
  return (
    <div className="about">
      {description === '' ? (
        <p className="muted">No description.</p>
      ) : (
        <p className="description" dir="auto">
          {description}
        </p>
      )}
      <Details
        facts={[
          ...hashes.flatMap(([label, hash]) =>
            hash === null ? [] : [[label, <Copyable text={hash} what={label.toLowerCase()} />] as const],
          ),
          ...others.flatMap(([label, id]) => (id === null ? [] : [[label, String(id)] as const])),
        ]}
      />
    </div>
  )
}
