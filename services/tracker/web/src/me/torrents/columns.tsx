import { Link } from '@tanstack/react-router'
import { Ago, formatBytes, formatCount, formatDuration, formatRatio } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { OwnTorrent } from '../../api/client.ts'
import { Peers } from '../../release/peers.tsx'
import { ratesText } from '../../release/rates.ts'
import { BreakableName } from '../../release/release-tags.tsx'
import type { OwnList } from './search.ts'

type OwnColumn = Column<OwnTorrent>

const NAME: OwnColumn = {
  head: 'Name',
  isMain: true,
  cell: (torrent) => (
    <>
      {torrent.state === 'deleted' ? (
        <BreakableName name={torrent.name} />
      ) : (
        <Link to="/torrents/$id" params={{ id: torrent.id }} className="row-link" preload={false}>
          <BreakableName name={torrent.name} />
        </Link>
      )}{' '}
      <Tags torrent={torrent} />
      {torrent.reason !== null && (
        <span className="own-reason">
          Reason: <bdi>{torrent.reason}</bdi>
        </span>
      )}
    </>
  ),
}
const STATES = {
  pending: ['Awaiting approval', 'warn'],
  rejected: ['Rejected', 'bad'],
  deleted: ['Deleted', 'bad'],
} as const

function Tags({ torrent }: { torrent: OwnTorrent }) {
  const { state } = torrent
  const words = ratesText(torrent).map((rate) => [rate, 'good'] as const)
  return [...words, ...(state === 'approved' ? [] : [STATES[state]])].map(([word, tone]) => (
    <span key={word} className="tag" data-tone={tone}>
      {word}
    </span>
  ))
}

const SIZE: OwnColumn = {
  head: 'Size',
  align: 'end',
  sort: 'size',
  isEvident: true,
  cell: ({ size }) => formatBytes(size),
}
const SEEDERS: OwnColumn = {
  head: 'Seeders',
  align: 'end',
  sort: 'seeders',
  isEvident: true,
  cell: ({ seeders }) => <Peers kind="seeders" count={seeders} />,
}
const LEECHERS: OwnColumn = {
  head: 'Leechers',
  align: 'end',
  isEvident: true,
  cell: ({ leechers }) => <Peers kind="leechers" count={leechers} />,
}
const UPLOADED: OwnColumn = {
  head: 'Uploaded',
  align: 'end',
  sort: 'uploaded',
  cell: ({ transfer }) => formatBytes(transfer?.uploaded ?? 0),
}
const DOWNLOADED: OwnColumn = {
  head: 'Downloaded',
  align: 'end',
  sort: 'downloaded',
  cell: ({ transfer }) => formatBytes(transfer?.downloaded ?? 0),
}
const RATIO: OwnColumn = {
  head: 'Ratio',
  align: 'end',
  isMinor: true,
  cell: ({ transfer }) => formatRatio(ratioOf(transfer)),
}
const SEED_TIME: OwnColumn = {
  head: 'Seed time',
  align: 'end',
  sort: 'seedTime',
  cell: ({ transfer }) => formatDuration(transfer?.seedSeconds ?? 0),
}

function ratioOf(transfer: OwnTorrent['transfer']): number | null {
  return transfer === null || transfer.downloaded === 0 ? null : transfer.uploaded / transfer.downloaded
}

const completedAt = (now: number): OwnColumn => ({
  head: 'Completed',
  align: 'end',
  sort: 'completed',
  orders: ['oldest first', 'newest first'],
  cell: ({ transfer }) => (transfer?.completed ? <Ago time={transfer.completed} now={now} /> : '–'),
})

/** The columns of each list. `requiredSeconds` is undefined while it loads. */
export function columnsOf(list: OwnList, now: number, requiredSeconds: number | undefined): readonly OwnColumn[] {
  switch (list) {
    case 'uploads':
      return [
        ...[NAME, SIZE, SEEDERS, LEECHERS],
        { head: 'Snatches', align: 'end', cell: ({ snatches }) => formatCount(snatches) },
        UPLOADED,
        {
          head: 'Added',
          align: 'end',
          sort: 'created',
          orders: ['oldest first', 'newest first'],
          cell: ({ created }) => <Ago time={created} now={now} />,
        },
      ]
    case 'seeding':
      return [NAME, SIZE, SEEDERS, LEECHERS, UPLOADED, RATIO, SEED_TIME]
    case 'leeching':
      return [
        ...[NAME, SIZE],
        {
          head: 'Progress',
          align: 'end',
          cell: ({ size, transfer }) => progressText(size, transfer?.bytesLeft ?? null),
        },
        ...[SEEDERS, DOWNLOADED, UPLOADED],
      ]
    case 'snatched':
      return [NAME, SIZE, SEEDERS, UPLOADED, DOWNLOADED, RATIO, SEED_TIME, completedAt(now)]
    case 'duties':
      return [
        NAME,
        {
          head: 'State',
          isEvident: true,
          cell: ({ transfer }) => <DutyTag isSeeding={transfer?.isSeeding === true} />,
        },
        {
          head: 'Seed time left',
          align: 'end',
          cell: ({ transfer }) =>
            requiredSeconds === undefined ? '' : formatDuration(requiredSeconds - (transfer?.seedSeconds ?? 0)),
        },
        {
          head: 'Or upload',
          align: 'end',
          cell: ({ transfer }) => formatBytes((transfer?.downloaded ?? 0) - (transfer?.uploaded ?? 0)),
        },
        { ...RATIO, isMinor: false },
        completedAt(now),
      ]
  }
}

function progressText(size: number, left: number | null): string {
  return left === null || size === 0 ? '–' : `${Math.floor(((size - left) / size) * 100)} %`
}

function DutyTag({ isSeeding }: { isSeeding: boolean }) {
  return (
    <span className="tag" data-tone={isSeeding ? 'good' : 'bad'}>
      {isSeeding ? 'Seeding' : 'Not seeding'}
    </span>
  )
}
