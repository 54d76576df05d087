import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { allKeys } from '../api/queries.ts'
import type { KeyOfProject } from '../api/types.ts'
import { Countdown, SOON_MS } from '../keys/cells.tsx'

/** Replaced keys that still work, and keys that expire soon. Their last use shows whether applications need a new key. */
export function EndingKeys({ count }: { count: number }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(allKeys)
  return (
    <section className="stack" aria-labelledby="ending-keys">
      <h2 id="ending-keys">Expiring keys</h2>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={Math.min(count, 20)} label="Loading keys…" />
      ) : (
        <Table
          caption="Expiring keys"
          columns={columnsAt(dataUpdatedAt)}
          rows={data.filter(({ until }) => until !== null && Date.parse(until) < dataUpdatedAt + SOON_MS)}
          rowKey={({ project, fingerprint }) => project + fingerprint}
        />
      )}
    </section>
  )
}

function columnsAt(now: number): readonly Column<KeyOfProject>[] {
  return [
    {
      head: 'Project',
      isMain: true,
      cell: ({ project }) => (
        <Link to="/projects/$name" params={{ name: project }} className="row-link" preload={false}>
          {project}
        </Link>
      ),
    },
    { head: 'Key', isEvident: true, cell: ({ name }) => <span className="long-name">{name}</span> },
    { head: 'Last used', align: 'end', cell: ({ lastUsedAt }) => <Ago time={lastUsedAt} now={now} /> },
    {
      head: 'Expires',
      align: 'end',
      isEvident: true,
      cell: ({ until }) => until !== null && <Countdown until={until} />,
    },
  ]
}
