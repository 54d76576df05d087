import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { Details } from '@vault-and-tracker/web-kit/layout'
import type { Torrent } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'
import { Peers } from '../release/peers.tsx'

/** Who has the torrent, and how it counts. Staff find its peers here. */
export function Swarm({ torrent }: { torrent: Torrent }) {
  const { id, seeders, leechers, completed, downloadPercent, uploadPercent } = torrent
  const { data: user } = useQuery(ownUser)
  return (
    <>
      <Details
        facts={[
          ['Have all of it', <Peers kind="seeders" count={seeders} />],
          ['Are downloading', <Peers kind="leechers" count={leechers} />],
          ['Finished the download', formatCount(completed)],
          ['A download is charged', `${downloadPercent} %`],
          ['An upload is credited', `${uploadPercent} %`],
        ]}
      />
      {seeders === 0 && <p className="notice">Nobody seeds this torrent now. A download waits until somebody does.</p>}
      {user !== undefined && user.role !== 'member' && (
        <p>
          <Link to="/admin/swarms/$id" params={{ id }}>
            Its peers, for the staff
          </Link>
        </p>
      )}
    </>
  )
}
