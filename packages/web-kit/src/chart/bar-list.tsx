import { type ReactNode, useId } from 'react'
import type { Tone } from './series.ts'

export type Bar = {
  readonly key: string
  readonly label: ReactNode
  readonly value: number
  /** The part of the value that is of another kind, errors for example. */
  readonly part?: number
  readonly text: string
  readonly note?: string
}

/** A chart of amounts side by side, greatest first as the rows come. It is a table with bars in it. */
export function BarList(props: {
  title: string
  /** The heads of the columns: what the rows are, what was counted, and what the note is. */
  heads: readonly [label: string, value: string, note?: string]
  bars: readonly Bar[]
  partTone?: Tone
}) {
  const { title, heads, bars, partTone = 'bad' } = props
  const id = useId()
  const greatest = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption className="chart-head">
        <h2 id={id}>{title}</h2>
      </figcaption>
      <table className="bar-list">
        <thead>
          <tr>
            <th scope="col">{heads[0]}</th>
            <th scope="col" data-align="end">
              {heads[1]}
            </th>
            {heads[2] !== undefined && (
              <th scope="col" data-align="end">
                {heads[2]}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {bars.map(({ key, label, value, part = 0, text, note }) => (
            <tr key={key}>
              <th scope="row">
                {label}
                <span className="bar" aria-hidden="true" style={{ width: `${(value / greatest) * 100}%` }}>
                  <span
                    data-tone={partTone}
                    style={{ width: `${value === 0 ? 0 : (Math.min(part, value) / value) * 100}%` }}
                  />
                </span>
              </th>
              <td data-align="end">{text}</td>
              {heads[2] !== undefined && <td data-align="end">{note}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
