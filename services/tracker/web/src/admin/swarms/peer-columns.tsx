import { Link } from '@tanstack/react-router'
import { Ago, formatBytes } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { Peer } from '../../api/client.ts'

const STATES = { seeder: 'Seeder', leecher: 'Leecher', paused: 'Partial seed' } as const

/** The columns of a list of peers. @param size of the torrent in bytes */
export function peerColumns(size: number, now: number, hasAddresses: boolean): readonly Column<Peer>[] {
  return [
    {
      head: 'User',
      isMain: true,
      cell: ({ user }) =>
        user === null ? (
          <span className="muted">Just started</span>
        ) : (
          <Link to="/users/$id" params={{ id: user.id }}>
            {user.username}
          </Link>
        ),
    },
    { head: 'State', isEvident: true, cell: ({ state }) => <State state={state} /> },
    { head: 'Client', isEvident: true, cell: ({ client }) => client },
    ...(hasAddresses ? [ADDRESS] : []),
    { head: 'Left', align: 'end', cell: ({ left }) => leftText(left, size) },
    { head: 'Uploaded', align: 'end', cell: ({ uploaded }) => formatBytes(uploaded) },
    { head: 'Downloaded', align: 'end', cell: ({ downloaded }) => formatBytes(downloaded) },
    { head: 'Last announce', align: 'end', cell: ({ lastAnnounce }) => <Ago time={lastAnnounce} now={now} /> },
  ]
}

const ADDRESS: Column<Peer> = {
  head: 'Address',
  isEvident: true,
  cell: ({ addresses }) =>
    addresses === null || addresses.length === 0 ? (
      <span className="muted">WebSocket</span>
    ) : (
      addresses.map((address) => (
        <code key={address} className="address">
          {address}
        </code>
      ))
    ),
}

function State({ state }: { state: Peer['state'] }) {
  return (
    <span className="peers" data-kind={state === 'leecher' ? 'leechers' : 'seeders'}>
      {STATES[state]}
    </span>
  )
}

/** `1.20 GiB (40 %)`, or a dash if unknown. */
function leftText(left: number | null, size: number): string {
  if (left === null) return '–'
  if (left === 0 || size === 0) return formatBytes(left)
  return `${formatBytes(left)} (${Math.min(100, Math.ceil((100 * left) / size))} %)`
}
