import { useQuery } from '@tanstack/react-query'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { formatBytes } from '@vault-and-tracker/web-kit/format'
import { type Column, Pages, Table } from '@vault-and-tracker/web-kit/table'
import { type FileRow, fileRows } from './file-rows.ts'
import { torrentFiles } from './queries.ts'

const COLUMNS: readonly Column<FileRow>[] = [
  {
    head: 'File',
    isMain: true,
    cell: ({ name, depth, size }) => (
      <span
        dir="auto"
        className={size === undefined ? 'muted' : ''}
        style={{ marginInlineStart: `${depth * 1.25}rem` }}
      >
        {size === undefined ? `${name}/` : name}
      </span>
    ),
  },
  { head: 'Size', align: 'end', cell: ({ size }) => (size === undefined ? '' : formatBytes(size)) },
]

/** The files of a torrent as a tree. */
export function Files({ id, page }: { id: string; page: number }) {
  const { data, error, refetch } = useQuery(torrentFiles(id, page))
  if (data === undefined)
    return <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading files…" />
  return (
    <>
      <Table caption="Files" columns={COLUMNS} rows={fileRows(data.items)} rowKey={({ path }) => path} />
      <Pages list={data} />
    </>
  )
}
