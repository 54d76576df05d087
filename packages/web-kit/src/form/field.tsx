import { type ComponentProps, type ReactNode, useId } from 'react'
import type { ApiError } from '../api/error.ts'

export type Described = {
  label: string
  name: string
  hint?: ReactNode
  /** The server's last error; shown here if it is about this field. */
  error?: ApiError | null | undefined
}

/** A label, a control, a hint and an error. The control receives the attributes that join them. */
export function Field({
  label,
  name,
  hint,
  error,
  children,
}: Described & {
  children: (attributes: {
    id: string
    name: string
    'aria-describedby': string | undefined
    'aria-invalid': true | undefined
  }) => ReactNode
}) {
  const id = useId()
  const problem = error?.field === name ? error.sentence : undefined
  const described = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        name,
        'aria-describedby': described || undefined,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {problem !== undefined && (
        <p className="field-problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      {hint !== undefined && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

export function TextField({ label, name, hint, error, ...input }: Described & ComponentProps<'input'>) {
  return (
    <Field label={label} name={name} hint={hint} error={error}>
      {(attributes) => <input dir="auto" {...input} {...attributes} className="input" />}
    </Field>
  )
}

export function TextArea({ label, name, hint, error, ...input }: Described & ComponentProps<'textarea'>) {
  return (
    <Field label={label} name={name} hint={hint} error={error}>
      {(attributes) => <textarea dir="auto" {...input} {...attributes} className="input" />}
    </Field>
  )
}
