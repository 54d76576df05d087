import type { ReactNode } from 'react'
import { type ApiError, explain } from '../api/error.ts'
import { Button } from './button.tsx'

export type Values = Readonly<Record<string, string>>

/** A form that is sent once at a time. An error about one of its `fields` is shown there, any other above the buttons. */
export function Form({
  fields,
  error,
  isBusy,
  onSubmit,
  children,
  submit,
  kind = 'main',
  actions,
  label,
}: {
  fields: readonly string[]
  error: ApiError | null | undefined
  isBusy: boolean
  onSubmit: (values: Values) => void
  children: ReactNode
  /** The text of the button that sends the form. */
  submit?: string
  kind?: 'main' | 'danger'
  /** After that button. */
  actions?: ReactNode
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
      <div className="form-actions">
        {submit !== undefined && (
          <Button type="submit" kind={kind} isBusy={isBusy}>
            {submit}
          </Button>
        )}
        {actions}
      </div>
    </form>
  )
}

function textOf(data: FormData): Values {
  const entries = Array.from(data.entries())
  return Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}
