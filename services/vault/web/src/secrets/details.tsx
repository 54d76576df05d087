import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { formatDate, formatExactTime } from '@vault-and-tracker/web-kit/format'

/** The note, the owner and the expiry of a secret, as listed. */
export type Details = {
  readonly note?: string | undefined
  readonly owner?: string | undefined
  readonly expiresAt?: string | undefined
}

/** The names of the fields in `DetailFields`. */
export const DETAIL_FIELDS = ['owner', 'expiresAt', 'note'] as const

/** The fields of the details; `current` are the initial texts. */
export function DetailFields({ current = {}, error }: { current?: Details; error: ApiError | null }) {
  const { note, owner, expiresAt } = current
  return (
    <>
      <div className="field-row">
        <TextField
          label="Owner"
          name="owner"
          dir="auto"
          defaultValue={owner}
          maxLength={100}
          placeholder="none"
          autoComplete="off"
          error={error}
        />
        <TextField
          label="Expires"
          name="expiresAt"
          type="datetime-local"
          defaultValue={expiresAt && localTime(expiresAt)}
          hint="The vault warns you, but keeps the secret available."
          error={error}
        />
      </div>
      <TextField
        label="Note"
        name="note"
        dir="auto"
        defaultValue={note}
        maxLength={500}
        placeholder="none"
        autoComplete="off"
        hint="Not encrypted. Never enter values here."
        error={error}
      />
    </>
  )
}

/** The details that differ from the current ones; null removes one. */
export function changedDetails(values: Values, current: Details = {}) {
  const changed = (name: string, before = ''): string | null | undefined => {
    const text = (values[name] ?? '').trim()
    return text === before ? undefined : text || null
  }
  const note = changed('note', current.note)
  const owner = changed('owner', current.owner)
  // An unchanged field has no seconds, which the expiry may have.
  const expires = changed('expiresAt', current.expiresAt && localTime(current.expiresAt))
  return {
    ...(note !== undefined && { note }),
    ...(owner !== undefined && { owner }),
    ...(expires !== undefined && { expiresAt: expires && new Date(expires).toISOString() }),
  }
}

/** A time as the input `datetime-local` has it, in the reader's time zone. */
function localTime(time: string): string {
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

const DAY_MS = 86_400_000
const SOON_DAYS = 30

/** When a secret expires; marked if that is soon or past. */
export function ExpiryText({ expiresAt, now }: { expiresAt: string; now: number }) {
  const days = Math.ceil((Date.parse(expiresAt) - now) / DAY_MS)
  const date = (
    <time dateTime={expiresAt} title={formatExactTime(expiresAt)}>
      {formatDate(expiresAt)}
    </time>
  )
  if (days > SOON_DAYS) return date
  return (
    <>
      {date}{' '}
      <span className="tag" data-tone="warn">
        {days <= 0 ? 'overdue' : days === 1 ? 'in 1 day' : `in ${days} days`}
      </span>
    </>
  )
}
