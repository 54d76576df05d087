import { Link } from '@tanstack/react-router'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { type Column, Table } from '@vault-and-tracker/web-kit/table'
import type { AdminLogEntry } from '../../api/client.ts'
import { changesIn, nameOfAction } from './actions.ts'

/** Entries of the admin log. */
export function EntryTable({ entries, withTarget }: { entries: readonly AdminLogEntry[]; withTarget: boolean }) {
  const columns = withTarget ? COLUMNS : COLUMNS.filter(({ head }) => head !== 'Target')
  return (
    <div className="entries">
      <Table caption="Log" columns={columns} rows={entries} rowKey={({ id }) => id} />
    </div>
  )
}

const MAX_SHOWN = 200

const COLUMNS: readonly Column<AdminLogEntry>[] = [
  {
    head: 'Time',
    isEvident: true,
    cell: ({ at }) => (
      <time dateTime={at} className="muted">
        {formatExactTime(at)}
      </time>
    ),
  },
  {
    head: 'User',
    isEvident: true,
    cell: ({ actor }) => (
      <Link to="/admin/log" search={{ actor: actor.username }} className="quiet-link">
        {actor.username}
      </Link>
    ),
  },
  { head: 'Action', isEvident: true, cell: ({ action }) => nameOfAction(action) },
  { head: 'Target', isEvident: true, cell: (entry) => <TargetLink entry={entry} /> },
  { head: 'Changes', isMain: true, cell: (entry) => <Changes entry={entry} /> },
]

function TargetLink({ entry: { target, action } }: { entry: AdminLogEntry }) {
  const { type, id } = target
  const name = target.name ?? id
  if (id === null || name === null) return null
  if (type === 'user')
    return (
      <Link to="/admin/users/$id" params={{ id }} className="target">
        {name}
      </Link>
    )
  if (type === 'torrent' && action !== 'torrent.delete')
    return (
      <Link to="/torrents/$id" params={{ id }} className="target" title={name}>
        {name}
      </Link>
    )
  return <span className="target">{name}</span>
}

function Changes({ entry }: { entry: AdminLogEntry }) {
  const changes = changesIn(entry)
  if (changes.length === 0) return <span className="muted">–</span>
  return (
    <ul className="changes">
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          <span className="muted">{name}</span> {before !== undefined && <del>{shortened(before)}</del>}
          {before !== undefined && after !== undefined && <span aria-hidden="true"> → </span>}
          {after !== undefined && <ins>{shortened(after)}</ins>}
          {before === undefined && after === undefined && <span className="muted">empty</span>}
        </li>
      ))}
    </ul>
  )
}

/** A long text, such as rules or a description, behind its beginning. */
function shortened(text: string) {
  if (text.length <= 2 * MAX_SHOWN) return text
  return (
    <details>
      <summary>{text.slice(0, MAX_SHOWN)}…</summary>
      {text.slice(MAX_SHOWN)}
    </details>
  )
}
