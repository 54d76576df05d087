import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { type ApiError, explain } from '../api/error.ts'
import { Button } from './button.tsx'
import { LeaveGuard } from './leave-guard.tsx'

export type Values = Readonly<Record<string, string>>

/**
 * A form that is sent once at a time. An error about one of its `fields` is shown there and moves the focus to it, any other
 * is shown above the buttons.
 */
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
  isDraft = true,
}: {
  fields: readonly string[]
  error: ApiError | null | undefined
  isBusy: boolean
  onSubmit: (values: Values) => void
  children: ReactNode
  /** The text of the button that sends the form. */
  submit?: string
  kind?: 'main' | 'plain' | 'danger'
  /** After that button. */
  actions?: ReactNode
  label: string
  /** Whether its text is worth a question before it is lost. */
  isDraft?: boolean
}) {
  const element = useRef<HTMLFormElement>(null)
  useKeptFocus(element, label)
  const wrong = fields.find((name) => name === error?.field)
  const isElsewhere = error != null && wrong === undefined
  useEffect(() => {
    const field = wrong === undefined ? null : element.current?.elements.namedItem(wrong)
    if (field instanceof HTMLElement) field.focus()
  }, [error, wrong])
  return (
    <form
      ref={element}
      className="form"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) onSubmit(textOf(new FormData(event.currentTarget)))
      }}
    >
      {isDraft && <LeaveGuard form={element} error={error ?? null} />}
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

/** The label of the form with the focus that the current update of the page removes. */
let replaced: string | undefined

/** A form that shows new values replaces the one that saved them. Its button gets the focus that was in that form. */
function useKeptFocus(element: RefObject<HTMLFormElement | null>, label: string): void {
  useLayoutEffect(() => {
    const form = element.current
    if (replaced === label) form?.querySelector<HTMLElement>('[type="submit"]')?.focus({ preventScroll: true })
    return () => {
      if (form?.contains(document.activeElement) !== true) return
      replaced = label
      queueMicrotask(() => {
        replaced = undefined
      })
    }
  }, [element, label])
}

function textOf(data: FormData): Values {
  const entries = Array.from(data.entries())
  return Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
}
