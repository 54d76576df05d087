import type { ComponentProps, ReactNode } from 'react'
import { type Described, Field } from './field.tsx'

export type Choice<Value extends string> = readonly [value: Value, text: string]

function Options({ choices }: { choices: readonly Choice<string>[] }) {
  return choices.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))
}

/** Narrows or sorts a list. `all` is the text of the choice that leaves the parameter out. */
export function Select<Value extends string>(props: {
  label: string
  all?: string
  value: Value | undefined
  choices: readonly Choice<Value>[]
  onChange: (value: Value | undefined) => void
}) {
  const { label, all, value, choices, onChange } = props
  return (
    <select
      className="input"
      aria-label={label}
      value={value ?? ''}
      onChange={({ target }) => onChange(choices.find(([each]) => each === target.value)?.[0])}
    >
      {all !== undefined && <option value="">{all}</option>}
      <Options choices={choices} />
    </select>
  )
}

/** A choice in a form: `choices`, or options as children. */
export function SelectField(
  props: Described & ComponentProps<'select'> & { choices?: readonly Choice<string>[]; children?: ReactNode },
) {
  const { label, name, hint, error, choices = [], children, ...select } = props
  return (
    <Field label={label} name={name} hint={hint} error={error}>
      {(attributes) => (
        <select {...select} {...attributes} className="input">
          {children}
          <Options choices={choices} />
        </select>
      )}
    </Field>
  )
}
