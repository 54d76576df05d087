import { useQuery } from '@tanstack/react-query'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatBytes } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import { torrentFiles } from './queries.ts'

type File = { readonly path: string; readonly size: number }
const COLUMNS: readonly Column<File>[] = [
  { key: 'path', head: 'Path', isMain: true, cell: ({ path }) => path },
  { key: 'size', head: 'Size', align: 'end', cell: ({ size }) => formatBytes(size) },
]

/** The files of a torrent. */
export function Files({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(torrentFiles(id))
  if (data !== undefined) return <Table caption="Files" columns={COLUMNS} rows={data} rowKey={({ path }) => path} />
  return <Pending error={error} onRetry={() => void refetch()} rows={6} label="Files are loading." />
}
