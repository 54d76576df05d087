import { formatCount } from '@vault-and-tracker/web-kit/format'

/** Checkboxes behind a button: a filter that can have several values. `onOpen` can load the counts. */
export function Choices(props: {
  label: string
  choices: readonly (readonly [value: string, text: string])[]
  chosen: readonly string[]
  counts: readonly { readonly value: string; readonly count: number }[] | undefined
  onOpen: () => void
  onChange: (chosen: readonly string[]) => void
}) {
  const { label, choices, chosen, counts = [], onOpen, onChange } = props
  const countOf = new Map(counts.map(({ value, count }) => [value, count]))
  return (
    <details
      className="choices"
      onToggle={onOpen}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) currentTarget.open = false
      }}
      onKeyDown={({ key, currentTarget }) => {
        if (key !== 'Escape') return
        currentTarget.open = false
        currentTarget.querySelector('summary')?.focus()
      }}
    >
      <summary className="input">{chosen.length === 0 ? label : `${label} (${chosen.length})`}</summary>
      {/* Takes the focus of a click between the checkboxes, which would close the list. */}
      <fieldset tabIndex={-1}>
        <legend className="visually-hidden">{label}</legend>
        {choices.map(([value, text]) => {
          const count = countOf.get(value)
          return (
            <label key={value}>
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
                }
              />
              <span>{text}</span>
              {count !== undefined && <span className="muted">{formatCount(count)}</span>}
            </label>
          )
        })}
      </fieldset>
    </details>
  )
}
