import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { Plot } from './plot.ts'
import { type ChartData, secondsOf } from './series.ts'
import { spanText } from './time-axis.ts'
import { formatValue } from './unit.ts'

/**
 * A chart that answers one question: how something changed over time. The values under the pointer are shown above it;
 * all of them are in a table below it. What draws is loaded when the first chart is shown.
 */
export function TimeChart(props: {
  title: string
  /** What the axis counts: `requests an hour`. */
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

/** Draws when the drawing code is there, and again when the data changes. */
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

/** What the colours mean, with the values under the pointer. */
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

/** The same values for those who cannot see or point. Made when it is opened: a month has 720 hours. */
function Values({ title, data }: { title: string; data: ChartData }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="chart-values" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Values<span className="visually-hidden"> of {title} as a table</span>
      </summary>
      {isOpen && (
        // What scrolls has to be reached by the keyboard.
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

/** What a chart shows in one sentence. */
function summaryOf(data: ChartData, what: string): string {
  const times = secondsOf(data.times)
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return `${what}: no values.`
  const highest = data.series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? `${label}: none` : `${label}: at most ${formatValue(Math.max(...known), data.unit)}`
  })
  return `${what}, ${spanText(first, data.span)} until ${spanText(last, data.span)}. ${highest.join('. ')}.`
}
