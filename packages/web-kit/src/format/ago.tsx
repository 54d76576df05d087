import { formatAge, formatExactTime } from './time.ts'

/** How long ago something was, with the exact time on hover and for screen readers. Null is never. */
export function Ago({ time, now }: { time: string | null; now: number }) {
  if (time === null) return 'never'
  const age = formatAge(time, now)
  const exact = formatExactTime(time)
  return (
    <time dateTime={time} title={exact}>
      <span aria-hidden="true">{age === 'now' ? 'now' : `${age} ago`}</span>
      <span className="visually-hidden">{exact}</span>
    </time>
  )
}
