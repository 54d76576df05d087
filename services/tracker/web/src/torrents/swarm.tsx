import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { Details } from '@vault-and-tracker/web-kit/layout'
import type { Torrent } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'
import { Peers } from '../release/peers.tsx'

/** The peers and rates of a torrent. */
export function Swarm({ torrent }: { torrent: Torrent }) {
  const { id, seeders, leechers, completed, downloadPercent, uploadPercent } = torrent
  const { data: user } = useQuery(ownUser)
  return (
    <>
      <Details
        facts={[
          ['Seeders', <Peers kind="seeders" count={seeders} />],
          ['Leechers', <Peers kind="leechers" count={leechers} />],
          ['Snatches', formatCount(completed)],
          ['Download rate', downloadPercent === 0 ? '0 % (freeleech)' : `${downloadPercent} %`],
          ['Upload rate', `${uploadPercent} %`],
        ]}
      />
      {seeders === 0 && <p className="notice">This torrent has no seeders. A download starts when a seeder returns.</p>}
      {user !== undefined && user.role !== 'member' && (
        <p>
          <Link to="/admin/swarms/$id" params={{ id }}>
            View peers
          </Link>
        </p>
      )}
    </>
  )
}
