import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago, formatBytes, formatDuration, formatNumberOf, formatRatio } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { api, type SeedingDuty } from '../api/client.ts'
import { BreakableName } from '../release/release-tags.tsx'

const seedingDuties = queryOptions({
  queryKey: ['me', 'seeding-duties'],
  queryFn: ({ signal }) => read(api.GET('/api/user/seeding-duties', { signal })),
  refetchInterval: 60_000,
})

/** Torrents that the member completed and has not seeded for long enough. */
export function SeedingDuties() {
  const { data, error, refetch, dataUpdatedAt } = useQuery(seedingDuties)
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading hit-and-runs…" />
  const { requiredSeconds, items } = data
  if (requiredSeconds === 0) return <Empty title="This tracker has no minimum seed time." />
  const rule = `Seed each completed torrent for ${formatDuration(requiredSeconds)}, or until you have uploaded as much as you downloaded.`
  if (items.length === 0)
    return (
      <Empty title="No torrents left to seed.">
        <p>{rule}</p>
      </Empty>
    )
  const stopped = items.filter(({ seeding }) => !seeding).length
  return (
    <div className="stack">
      <p className="prose">
        You have {stopped === 0 ? 'no hit-and-runs' : formatNumberOf(stopped, 'hit-and-run')}. {rule}
      </p>
      <Table
        caption="Torrents to seed"
        columns={columnsOf(requiredSeconds, dataUpdatedAt)}
        rows={items}
        rowKey={({ torrent }) => torrent.id}
      />
    </div>
  )
}

function columnsOf(requiredSeconds: number, now: number): readonly Column<SeedingDuty>[] {
  return [
    {
      head: 'Torrent',
      isMain: true,
      cell: ({ torrent }) => (
        <Link to="/torrents/$id" params={{ id: torrent.id }} className="row-link" preload={false}>
          <BreakableName name={torrent.name} />
        </Link>
      ),
    },
    {
      head: 'State',
      isEvident: true,
      cell: ({ seeding }) => (
        <span className="tag" data-tone={seeding ? 'good' : 'bad'}>
          {seeding ? 'Seeding' : 'Hit-and-run'}
        </span>
      ),
    },
    { head: 'Seed time left', align: 'end', cell: ({ seedSeconds }) => formatDuration(requiredSeconds - seedSeconds) },
    { head: 'Or upload', align: 'end', cell: ({ uploaded, downloaded }) => formatBytes(downloaded - uploaded) },
    { head: 'Ratio', align: 'end', cell: ({ uploaded, downloaded }) => formatRatio(uploaded / downloaded) },
    { head: 'Completed', align: 'end', cell: ({ completed }) => <Ago time={completed} now={now} /> },
    { head: 'Last announce', align: 'end', isMinor: true, cell: ({ lastSeen }) => <Ago time={lastSeen} now={now} /> },
  ]
}
