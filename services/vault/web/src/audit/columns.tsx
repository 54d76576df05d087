import { Link } from '@tanstack/react-router'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { Administrator, AuditEntry } from '../api/types.ts'
import { ACTION_NAMES, type AuditSearch } from './search.ts'

const SHOWN_FINGERPRINT = 12

/** All administrators; undefined where they are not known to the reader. */
type Named = readonly Administrator[] | undefined

/** The columns of a listing. The details are there when one action is asked for. */
export function columnsFor(search: AuditSearch, named: Named): readonly Column<AuditEntry>[] {
  const [when, what, of, env, who, from, detail] = COLUMNS(named)
  const hasDetail = search.action !== undefined && search.action !== 'fetch' && search.action !== 'rotate'
  // The column that needs most room gets what is left.
  if (hasDetail) return [when, plainly(what), of, env, who, from, detail]
  return [when, what, of, env, who, from]
}

/** A column that does not take the room that is left. */
function plainly({ key, head, cell }: Column<AuditEntry>): Column<AuditEntry> {
  return { key, head, cell, isEvident: true }
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

const COLUMNS = (named: Named): Columns => [
  {
    key: 'at',
    head: 'When',
    isEvident: true,
    cell: ({ requestedAt }) => (
      <time dateTime={requestedAt} className="muted">
        {formatExactTime(requestedAt)}
      </time>
    ),
  },
  { key: 'what', head: 'What', isMain: true, cell: ({ action }) => nameOf(action) },
  {
    key: 'project',
    head: 'Project',
    isEvident: true,
    cell: ({ projectId }) =>
      projectId !== '' && (
        <Link to="/audit" search={{ project: projectId }} className="quiet-link long-name">
          {projectId}
        </Link>
      ),
  },
  { key: 'env', head: 'Environment', isEvident: true, cell: ({ env }) => env },
  { key: 'actor', head: 'By', cell: ({ actor }) => <Actor actor={actor ?? null} named={named} /> },
  { key: 'ip', head: 'From', cell: ({ ip }) => <code>{ip}</code> },
  { key: 'detail', head: 'Detail', isMain: true, cell: ({ detail }) => <Detail detail={detail ?? {}} /> },
]

function nameOf(action: string): string {
  return action in ACTION_NAMES ? ACTION_NAMES[action as keyof typeof ACTION_NAMES] : action
}

/** `key:` with a fingerprint, `administrator` with or without an id, `command`, or `unknown`. */
function Actor({ actor, named }: { actor: string | null; named: Named }) {
  if (actor === null) return <span className="muted">not recorded</span>
  const [kind, value] = actor.split(':')
  if (value === undefined) return actor === 'administrator' ? 'admin token' : actor
  if (kind === 'key')
    return (
      <span title={value}>
        key <code>{value.slice(0, SHOWN_FINGERPRINT)}…</code>
      </span>
    )
  const name = named === undefined ? 'an administrator' : named.find(({ id }) => id === value)?.name
  return <span title={value}>{name ?? 'a removed administrator'}</span>
}

function Detail({ detail }: { detail: Readonly<Record<string, unknown>> }) {
  const members = Object.entries(detail).filter(([, value]) => value !== null)
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
