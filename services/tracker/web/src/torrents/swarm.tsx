import { formatCount } from '@vault-and-tracker/web-kit/format'
import type { Torrent } from '../api/client.ts'
import { Peers } from '../release/peers.tsx'

/** Who has the torrent, and how it counts. */
export function Swarm({ torrent }: { torrent: Torrent }) {
  const { seeders, leechers, completed, downloadPercent, uploadPercent } = torrent
  return (
    <>
      <dl className="details">
        <div>
          <dt>Have all of it</dt>
          <dd>
            <Peers kind="seeders" count={seeders} />
          </dd>
        </div>
        <div>
          <dt>Are downloading</dt>
          <dd>
            <Peers kind="leechers" count={leechers} />
          </dd>
        </div>
        <div>
          <dt>Finished the download</dt>
          <dd>{formatCount(completed)}</dd>
        </div>
        <div>
          <dt>A download is charged</dt>
          <dd>{downloadPercent} %</dd>
        </div>
        <div>
          <dt>An upload is credited</dt>
          <dd>{uploadPercent} %</dd>
        </div>
      </dl>
      {seeders === 0 && <p className="notice">Nobody seeds this torrent now. A download waits until somebody does.</p>}
    </>
  )
}
