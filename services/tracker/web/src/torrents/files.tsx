import { useQuery } from '@tanstack/react-query'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatBytes } from '@vault-and-tracker/web-kit/format'
import { type Column, Pages, Table } from '@vault-and-tracker/web-kit/table'
import { torrentFiles } from './queries.ts'

type File = { readonly path: string; readonly size: number }
const COLUMNS: readonly Column<File>[] = [
  { head: 'Path', isMain: true, cell: ({ path }) => path },
  { head: 'Size', align: 'end', cell: ({ size }) => formatBytes(size) },
]

export function Files({ id, page }: { id: string; page: number }) {
  const { data, error, refetch } = useQuery(torrentFiles(id, page))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading files…" />
  return (
    <>
      <Table caption="Files" columns={COLUMNS} rows={data.items} rowKey={({ path }) => path} />
      <Pages list={data} />
    </>
  )
}
