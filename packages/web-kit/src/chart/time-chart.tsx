import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { Plot } from './plot.ts'
import { type ChartData, secondsOf } from './series.ts'
import { spanText } from './time-axis.ts'
import { formatValue } from './unit.ts'

/**
 * How something changed over time. The values under the pointer are shown above the plot, all values in a table below it.
 * The drawing code loads with the first chart.
 */
export function TimeChart(props: {
  title: string
  /** The unit of the axis, such as `requests per hour`. */
  axis: string
  data: ChartData
  note?: ReactNode
}) {
  const { title, axis, data, note } = props
  const id = useId()
  const [pointed, setPointed] = useState<number | null>(null)
  const place = usePlot(data, setPointed)
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption className="chart-head">
        <h2 id={id}>{title}</h2>
        {note}
      </figcaption>
      <Reading data={data} index={pointed} axis={axis} />
      <div ref={place} className="chart-plot" role="img" aria-label={summaryOf(data, `${title}, ${axis}`)} />
      <Values title={title} data={data} />
    </figure>
  )
}

function usePlot(data: ChartData, onPoint: (index: number | null) => void) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot>(undefined)
  const latest = useRef(data)
  useEffect(() => {
    latest.current = data
    plot.current?.show(data)
  }, [data])
  useEffect(() => {
    let isGone = false
    void import('./plot.ts').then(({ draw }) => {
      if (!isGone && place.current) plot.current = draw(place.current, latest.current, onPoint)
    })
    return () => {
      isGone = true
      plot.current?.remove()
      plot.current = undefined
    }
  }, [onPoint])
  return place
}

/** The legend, with the values under the pointer. */
function Reading({ data, index, axis }: { data: ChartData; index: number | null; axis: string }) {
  const time = index === null ? undefined : secondsOf(data.times)[index]
  return (
    <div className="chart-reading" aria-hidden="true">
      <span className="chart-time">{time === undefined ? axis : spanText(time, data.span)}</span>
      {data.series.map(({ label, tone, shape, values }) => (
        <span key={label} className="chart-key" data-tone={tone} data-shape={shape}>
          {label}
          {index !== null && <b>{textOf(values[index], data)}</b>}
        </span>
      ))}
    </div>
  )
}

/** The values as a table. Rendered when it is opened, because a month has 720 hours. */
function Values({ title, data }: { title: string; data: ChartData }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="chart-values" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Values<span className="visually-hidden"> of {title} as a table</span>
      </summary>
      {isOpen && (
        // A scrollable area must be reachable by keyboard.
        <div className="chart-table" tabIndex={0} role="region" aria-label={`Values of ${title}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {data.series.map(({ label }) => (
                  <th key={label} scope="col" data-align="end">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {secondsOf(data.times).map((time, index) => (
                <tr key={time}>
                  <th scope="row">{spanText(time, data.span)}</th>
                  {data.series.map(({ label, values }) => (
                    <td key={label} data-align="end">
                      {textOf(values[index], data)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}

function textOf(value: number | null | undefined, { unit }: ChartData): string {
  return value == null ? 'none' : formatValue(value, unit)
}

/** The chart in one sentence, for screen readers. */
function summaryOf(data: ChartData, what: string): string {
  const times = secondsOf(data.times)
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return `${what}: no values.`
  const highest = data.series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? `${label}: none` : `${label}: at most ${formatValue(Math.max(...known), data.unit)}`
  })
  return `${what}, ${spanText(first, data.span)} to ${spanText(last, data.span)}. ${highest.join('. ')}.`
}
