import type { ReactNode } from 'react'
import { type ApiError, explain } from '../api/error.ts'

/**
 * A form that is sent once at a time. What the server says about a field is shown there; anything else above the
 * buttons. `fields` are the names of its fields.
 */
export function Form({
  fields,
  error,
  isBusy,
  onSubmit,
  children,
  actions,
  label,
}: {
  fields: readonly string[]
  error: ApiError | null | undefined
  isBusy: boolean
  onSubmit: (values: Readonly<Record<string, string>>) => void
  children: ReactNode
  actions: ReactNode
  label: string
}) {
  const isElsewhere = error != null && !fields.includes(error.field ?? '')
  return (
    <form
      className="form"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) onSubmit(textOf(new FormData(event.currentTarget)))
      }}
    >
      {children}
      <div role="alert">{isElsewhere && <p className="form-problem">{explain(error)}</p>}</div>
      <div className="form-actions">{actions}</div>
    </form>
  )
}

function textOf(data: FormData): Record<string, string> {
  const entries = Array.from(data.entries())
  return Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}
