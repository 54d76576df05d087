import { Link } from '@tanstack/react-router'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { AuditEntry } from '../api/types.ts'
import { Actor, type Named } from '../frame/actor.tsx'
import { ACTION_NAMES, type AuditSearch } from './search.ts'

/** The columns of a listing. Fetches have no details. */
export function columnsFor(search: AuditSearch, named: Named): readonly Column<AuditEntry>[] {
  const [when, what, of, env, who, from, detail] = COLUMNS(search, named)
  if (search.action === 'fetch') return [when, what, of, env, who, from]
  // The widest column takes the remaining space.
  return [when, plainly(what), of, env, who, from, detail]
}

/** The column without its claim to the remaining space. */
function plainly({ head, cell }: Column<AuditEntry>): Column<AuditEntry> {
  return { head, cell, isEvident: true }
}

type Columns = readonly [
  when: Column<AuditEntry>,
  what: Column<AuditEntry>,
  of: Column<AuditEntry>,
  env: Column<AuditEntry>,
  who: Column<AuditEntry>,
  from: Column<AuditEntry>,
  detail: Column<AuditEntry>,
]

const COLUMNS = (search: AuditSearch, named: Named): Columns => [
  {
    head: 'Time',
    isEvident: true,
    cell: ({ requestedAt }) => (
      <time dateTime={requestedAt} className="muted">
        {formatExactTime(requestedAt)}
      </time>
    ),
  },
  { head: 'Action', isMain: true, cell: ({ action }) => nameOf(action) },
  {
    head: 'Project',
    isEvident: true,
    cell: ({ projectId }) =>
      projectId !== '' && (
        <Link to="/audit" search={{ project: projectId }} className="quiet-link long-name">
          {projectId}
        </Link>
      ),
  },
  { head: 'Environment', isEvident: true, cell: ({ env }) => env },
  {
    head: 'By',
    cell: ({ actor = null, keyName }) => {
      const name = <Actor actor={actor} keyName={keyName} named={named} />
      if (actor === null) return name
      return (
        <Link to="/audit" search={{ ...search, actor, before: undefined }} className="quiet-link">
          {name}
        </Link>
      )
    },
  },
  { head: 'Address', cell: ({ ip }) => <code>{ip}</code> },
  { head: 'Details', isMain: true, cell: ({ detail }) => <Detail detail={detail ?? {}} /> },
]

function nameOf(action: string): string {
  return ACTION_NAMES.find(([each]) => each === action)?.[1] ?? action
}

function Detail({ detail }: { detail: Readonly<Record<string, unknown>> }) {
  const members = Object.entries(detail).filter(([, value]) => value !== null)
  if (members.length === 0) return <span className="muted">None</span>
  return (
    <ul className="entry-detail">
      {members.map(([name, value]) => (
        <li key={name}>
          <span className="muted">{name}</span> {String(value)}
        </li>
      ))}
    </ul>
  )
}
