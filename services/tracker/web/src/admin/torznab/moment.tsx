import { formatAge, formatExactTime } from '@vault-and-tracker/web-kit/format'

/** How long ago something was, with the exact time on hover and for screen readers. */
export function Moment({ time, now }: { time: string; now: number }) {
  const exact = formatExactTime(time)
  const age = formatAge(time, now)
  return (
    <time dateTime={time} title={exact}>
      <span aria-hidden="true">{age === 'now' ? age : `${age} ago`}</span>
      <span className="visually-hidden">{exact}</span>
    </time>
  )
}
