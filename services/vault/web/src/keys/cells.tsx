import { formatDuration, formatExactTime } from '@vault-and-tracker/web-kit/format'
import { useEffect, useState } from 'react'
import type { ProjectKey } from '../api/types.ts'

const SHOWN_DIGITS = 12

/** A shortened fingerprint, complete on hover and for screen readers. */
export function Fingerprint({ value }: { value: string }) {
  return (
    <code title={value}>
      <span aria-hidden="true">{value.slice(0, SHOWN_DIGITS)}…</span>
      <span className="visually-hidden">{value}</span>
    </code>
  )
}

const ACCESS_NAMES = { 'read-write': 'Read and write', read: 'Read', write: 'Write' } as const

/** The access and the environments of a key. */
export function ScopeText({ scope: { access, envs } }: { scope: ProjectKey['scope'] }) {
  return (
    <>
      {ACCESS_NAMES[access]}
      <span className="muted"> {envs === null ? 'in all environments' : `in ${envs.join(', ')}`}</span>
    </>
  )
}

const SECOND_MS = 1_000

const SHOWN_IN_SECONDS_MS = 3_600_000

/** Keys that end sooner need attention. */
export const SOON_MS = 7 * 86_400_000

/** How long a key keeps working, in the last hour to the second. */
export function Countdown({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now())
  const end = Date.parse(until)
  const left = end - now
  const isOver = left <= 0
  useEffect(() => {
    // A timer cannot run for weeks.
    if (isOver || end - Date.now() > SHOWN_IN_SECONDS_MS) return undefined
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [isOver, end])
  if (isOver) return <span className="muted">expired</span>
  return (
    <time dateTime={until} title={formatExactTime(until)} className={left < SOON_MS ? 'countdown' : 'muted'}>
      expires in {left < SHOWN_IN_SECONDS_MS ? clock(Math.ceil(left / SECOND_MS)) : formatDuration(left / SECOND_MS)}
    </time>
  )
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
