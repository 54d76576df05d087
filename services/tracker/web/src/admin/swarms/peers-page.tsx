import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Empty } from '@vault-and-tracker/web-kit/feedback'
import { formatBytes } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Facts } from '@vault-and-tracker/web-kit/layout'
import { Pages, Table } from '@vault-and-tracker/web-kit/table'
import { Peers } from '../../release/peers.tsx'
import { BreakableName } from '../../release/release-tags.tsx'
import { peerColumns } from './peer-columns.tsx'
import { torrentPeers } from './queries.ts'

const route = getRouteApi('/admin/swarms/$id')

export function PeersPage() {
  const { id } = route.useParams()
  const { page = 1 } = route.useSearch()
  const { data, dataUpdatedAt } = useSuspenseQuery(torrentPeers(id, page))
  const { torrent, seeders, leechers, items } = data
  usePageTitle(`Peers of ${torrent.name}`)
  return (
    <>
      <p>
        <Link to="/admin/swarms">All swarms</Link>
      </p>
      <h1>
        <BreakableName name={torrent.name} />
      </h1>
      <Facts
        facts={[
          ['Seeders', <Peers kind="seeders" count={seeders} />],
          ['Leechers', <Peers kind="leechers" count={leechers} />],
          ['Size', formatBytes(torrent.size)],
          [
            'Torrent',
            <Link to="/torrents/$id" params={{ id }}>
              View torrent
            </Link>,
          ],
        ]}
      />
      {items.length === 0 ? (
        <Empty title={page === 1 ? 'No peers at the moment.' : 'No peers on this page.'} />
      ) : (
        <div className="peer-list">
          <Table
            caption="Peers"
            columns={peerColumns(torrent.size, dataUpdatedAt, items[0]?.addresses != null)}
            rows={items}
            rowKey={({ client, user, lastAnnounce, addresses }) =>
              [user?.id, client, addresses?.join(), lastAnnounce].join(' ')
            }
          />
        </div>
      )}
      <Pages list={{ ...data, totalIsExact: true }} />
    </>
  )
}
