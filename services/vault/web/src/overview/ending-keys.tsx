import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Ago } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { allKeys } from '../api/queries.ts'
import type { KeyOfProject } from '../api/types.ts'
import { Countdown } from '../keys/countdown.tsx'
import { Fingerprint } from '../keys/fingerprint.tsx'

/** Replaced keys that still open: whether something uses them yet shows whether all applications have the new one. */
export function EndingKeys({ count }: { count: number }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(allKeys)
  return (
    <section className="stack-close" aria-labelledby="ending-keys">
      <h2 id="ending-keys">Keys that end soon</h2>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={Math.min(count, 20)} label="Keys are loading." />
      ) : (
        <Table
          caption="Keys that end soon"
          columns={columnsAt(dataUpdatedAt)}
          rows={data.filter(({ until }) => until !== null)}
          rowKey={({ project, fingerprint }) => project + fingerprint}
        />
      )}
    </section>
  )
}

function columnsAt(now: number): readonly Column<KeyOfProject>[] {
  return [
    {
      key: 'project',
      head: 'Project',
      isMain: true,
      cell: ({ project }) => (
        <Link to="/projects/$name" params={{ name: project }} className="row-link">
          {project}
        </Link>
      ),
    },
    { key: 'key', head: 'Key', isEvident: true, cell: ({ fingerprint }) => <Fingerprint value={fingerprint} /> },
    {
      key: 'used',
      head: 'Last used',
      align: 'end',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Ago time={lastUsedAt} now={now} />),
    },
    {
      key: 'until',
      head: 'Until',
      align: 'end',
      isEvident: true,
      cell: ({ until }) => until !== null && <Countdown until={until} />,
    },
  ]
}
