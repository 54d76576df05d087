import { Ago } from '@vault-and-tracker/web-kit/format'
import type { Column } from '@vault-and-tracker/web-kit/table'
import type { UserSession } from '../api/client.ts'
import { nameOfProgram } from './user-agent.ts'

/** Columns for the sessions of a user. */
export function sessionColumns<Row extends UserSession>(
  now: number,
  isCurrent: (session: Row) => boolean = () => false,
): readonly Column<Row>[] {
  return [
    {
      head: 'Browser',
      isMain: true,
      cell: (session) => (
        <>
          <span title={session.userAgent}>{nameOfProgram(session.userAgent)}</span>{' '}
          {isCurrent(session) && (
            <span className="tag" data-tone="good">
              This session
            </span>
          )}
        </>
      ),
    },
    { head: 'Address', cell: ({ address }) => address },
    { head: 'Last seen', align: 'end', cell: ({ lastSeen }) => <Ago time={lastSeen} now={now} /> },
    { head: 'Signed in', align: 'end', cell: ({ created }) => <Ago time={created} now={now} /> },
  ]
}
