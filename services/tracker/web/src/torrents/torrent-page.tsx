import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { CopyButton } from '@vault-and-tracker/web-kit/form'
import { formatBytes, formatCount } from '@vault-and-tracker/web-kit/format'
import type { Torrent } from '../api/client.ts'
import { categories, flatten, ownUser } from '../api/queries.ts'
import { usePageTitle } from '../frame/page-title.ts'
import { Peers } from '../release/peers.tsx'
import { BreakableName, ReleaseTags } from '../release/release-tags.tsx'
import { Age } from './columns.tsx'
import { FactorTags } from './factor-tags.tsx'
import { Files } from './files.tsx'
import { torrent as torrentQuery } from './queries.ts'
import { Swarm } from './swarm.tsx'
import { TorrentActions } from './torrent-actions.tsx'

const route = getRouteApi('/torrents/$id')

/** One torrent: what it is, its file to download, its files and its swarm. */
export function TorrentPage() {
  const { id } = route.useParams()
  const { tab, page = 1 } = route.useSearch()
  const { data: torrent, dataUpdatedAt } = useSuspenseQuery(torrentQuery(id))
  usePageTitle(torrent.name)
  return (
    <article className="torrent">
      <header className="torrent-head">
        <h1>
          <BreakableName name={torrent.name} /> <FactorTags torrent={torrent} />
        </h1>
        <ReleaseTags release={torrent.release} />
        {torrent.stateReason !== null && <p className="notice">Reason: {torrent.stateReason}</p>}
        <Facts torrent={torrent} now={dataUpdatedAt} />
        <div className="form-actions">
          <a className="button" data-kind="main" href={`/api/torrents/${id}/download`} download>
            Download .torrent
          </a>
          <Owned torrent={torrent} />
        </div>
      </header>
      <nav className="tabs" aria-label="Of this torrent">
        {([undefined, 'files', 'swarm'] as const).map((each) => (
          <Link
            key={each ?? 'about'}
            to="/torrents/$id"
            params={{ id }}
            search={each === undefined ? {} : { tab: each }}
            activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
            aria-current={tab === each ? 'page' : undefined}
            data-current={tab === each}
            replace
          >
            {each === undefined ? 'About' : each === 'files' ? `Files (${formatCount(torrent.files)})` : 'Swarm'}
          </Link>
        ))}
      </nav>
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

function Facts({ torrent, now }: { torrent: Torrent; now: number }) {
  const { data: tree = [] } = useQuery(categories)
  const path = flatten(tree).find(({ slug }) => slug === torrent.category)?.path ?? torrent.category
  return (
    <dl className="facts">
      <div>
        <dt>Category</dt>
        <dd>
          {torrent.category === '' ? (
            'None'
          ) : (
            <Link to="/torrents" search={{ category: torrent.category }}>
              {path}
            </Link>
          )}
        </dd>
      </div>
      <div>
        <dt>Size</dt>
        <dd>{formatBytes(torrent.size)}</dd>
      </div>
      <div>
        <dt>Seeders</dt>
        <dd>
          <Peers kind="seeders" count={torrent.seeders} />
        </dd>
      </div>
      <div>
        <dt>Leechers</dt>
        <dd>
          <Peers kind="leechers" count={torrent.leechers} />
        </dd>
      </div>
      <div>
        <dt>Snatches</dt>
        <dd>{formatCount(torrent.completed)}</dd>
      </div>
      <div>
        <dt>Age</dt>
        <dd>
          <Age time={torrent.created} now={now} />
        </dd>
      </div>
      <div>
        <dt>Uploader</dt>
        <dd>
          {torrent.uploaderId === null ? (
            'a deleted account'
          ) : (
            <Link to="/users/$id" params={{ id: torrent.uploaderId }}>
              {torrent.uploader}
            </Link>
          )}
        </dd>
      </div>
    </dl>
  )
}

function Owned({ torrent }: { torrent: Torrent }) {
  const { data: user } = useQuery(ownUser)
  const mayEdit = user !== undefined && (user.role !== 'member' || user.username === torrent.uploader)
  return mayEdit ? <TorrentActions torrent={torrent} isStaff={user.role !== 'member'} /> : null
}

function About({ torrent }: { torrent: Torrent }) {
  const { description, infoHash, infoHashV2, imdb, tmdb, tvdb } = torrent
  const others = [
    ['IMDb', imdb],
    ['TMDB', tmdb],
    ['TVDB', tvdb],
  ].flatMap(([label, id]) => (id === null ? [] : [[String(label), String(id)] as const]))
  return (
    <div className="about">
      {description === '' ? <p className="muted">No description.</p> : <p className="description">{description}</p>}
      <dl className="details">
        <div>
          <dt>Info hash</dt>
          <dd>
            <code>{infoHash}</code> <CopyButton text={infoHash} what="info hash" />
          </dd>
        </div>
        {infoHashV2 !== null && (
          <div>
            <dt>Info hash, version 2</dt>
            <dd>
              <code>{infoHashV2}</code> <CopyButton text={infoHashV2} what="info hash, version 2" />
            </dd>
          </div>
        )}
        {others.map(([label, id]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{id}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
