import { Link } from '@tanstack/react-router'
import { formatAge, formatCount, formatDuration } from '@vault-and-tracker/web-kit/format'
import { type Figure, Numbers } from '@vault-and-tracker/web-kit/layout'
import type { Activity, Overview } from '../api/types.ts'

/** Entries are sealed about a second after their commit. */
const LATE_MS = 60_000

/** @param props `day` has the requests of the last 24 hours once they are loaded; `readAt` is when the numbers were read */
export function VaultNumbers(props: { overview: Overview; day: Activity['items'] | undefined; readAt: number }) {
  const { overview, day, readAt } = props
  const { projects, projectsWithoutKey, secrets, endingKeys } = overview
  const sum = (name: 'fetches' | 'refused'): string =>
    day === undefined ? '…' : formatCount(day.reduce((total, hour) => total + (hour[name] ?? 0), 0))
  const refused = sum('refused')
  return (
    <Numbers
      columns={3}
      figures={[
        {
          label: 'Projects',
          value: formatCount(projects),
          note:
            projectsWithoutKey === 0
              ? 'all with an active key'
              : `${formatCount(projectsWithoutKey)} without an active key`,
          link: <Link to="/projects">Projects</Link>,
        },
        { label: 'Secrets', value: formatCount(secrets), note: 'in all environments' },
        {
          label: 'Expiring keys',
          value: formatCount(endingKeys),
          note: 'replaced, or expiring within 7 days',
          isUrgent: endingKeys > 0,
        },
        { label: 'Fetches', value: sum('fetches'), note: 'last 24 hours' },
        {
          label: 'Refused requests',
          value: refused,
          note: 'last 24 hours, one minute behind',
          link: (
            <Link to="/audit" search={{ action: 'refused' }}>
              Refused requests
            </Link>
          ),
          isUrgent: refused !== '0' && refused !== '…',
        },
        sealFigure(overview.seal, readAt),
      ]}
    />
  )
}

/** If an entry has waited for more than a minute, the sealer is stuck. */
function sealFigure({ last, unsealed, waitingSince }: Overview['seal'], readAt: number): Figure {
  const waited = waitingSince === null ? 0 : readAt - Date.parse(waitingSince)
  const isLate = waited > LATE_MS
  const sealedAgo = last === null ? 'never' : formatAge(last.at, readAt)
  return {
    label: 'Audit log',
    value: isLate ? 'Not sealed' : 'Sealed',
    note: isLate
      ? `${formatCount(unsealed)} entries waiting, the oldest for ${formatDuration(waited / 1_000)}`
      : `last ${sealedAgo === 'now' || sealedAgo === 'never' ? sealedAgo : `${sealedAgo} ago`}, ${formatCount(unsealed)} waiting`,
    link: <Link to="/audit">Audit log</Link>,
    isUrgent: isLate,
  }
}
