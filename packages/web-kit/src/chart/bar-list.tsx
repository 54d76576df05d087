import { type ReactNode, useId } from 'react'
import type { Tone } from './series.ts'

export type Bar = {
  readonly key: string
  readonly label: ReactNode
  readonly value: number
  /** A part of the value with its own colour, for example errors. */
  readonly part?: number
  readonly cells: readonly string[]
}

/** Amounts as a table with bars. `heads` name the first column, then the others. */
export function BarList(props: { title: string; heads: readonly string[]; bars: readonly Bar[]; partTone?: Tone }) {
  const { title, heads, bars, partTone = 'bad' } = props
  const id = useId()
  const [label, ...others] = heads
  const greatest = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption className="chart-head">
        <h2 id={id}>{title}</h2>
      </figcaption>
      <table className="bar-list">
        <thead>
          <tr>
            <th scope="col">{label}</th>
            {others.map((head) => (
              <th key={head} scope="col" data-align="end">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.key}>
              <th scope="row">
                {bar.label}
                <Length bar={bar} greatest={greatest} partTone={partTone} />
              </th>
              {bar.cells.map((text, index) => (
                <td key={others[index]} data-align="end">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

function Length({ bar: { value, part = 0 }, greatest, partTone }: { bar: Bar; greatest: number; partTone: Tone }) {
  const share = value === 0 ? 0 : Math.min(part / value, 1)
  return (
    <span className="bar-length" aria-hidden="true" style={{ width: `${(100 * value) / greatest}%` }}>
      <span data-tone={partTone} style={{ width: `${100 * share}%` }} />
    </span>
  )
}
