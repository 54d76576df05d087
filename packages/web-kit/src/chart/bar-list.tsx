import { type ReactNode, useId } from 'react'
import type { Tone } from './series.ts'

/** A row: how long its bar is, and what its cells say. */
export type Bar = {
  readonly key: string
  readonly label: ReactNode
  readonly value: number
  /** The part of the value that is of another kind, errors for example. */
  readonly part?: number
  readonly cells: readonly string[]
}

/**
 * A chart of amounts side by side, in the order of the rows: a table with bars in it.
 *
 * @param props `heads` name the rows, then each of their cells
 */
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
