import { formatAge, formatExactTime } from '@vault-and-tracker/web-kit/format'

/** How long ago, with the exact time on hover and for screen readers. */
export function Ago({ time, now }: { time: string; now: number }) {
  const age = formatAge(time, now)
  const exact = formatExactTime(time)
  return (
    <time dateTime={time} title={exact}>
      <span aria-hidden="true">{age === 'now' ? 'now' : `${age} ago`}</span>
      <span className="visually-hidden">{exact}</span>
    </time>
  )
}
