import { type ReactNode, useId } from 'react'

const NEARLY_ALL = 0.8

/** How much of a limit is used. The bar changes its colour when little is left. */
export function Gauge(props: { label: string; used: number; limit: number; text: ReactNode }) {
  const { label, used, limit, text } = props
  const id = useId()
  const share = Math.min(1, used / limit)
  return (
    <div className="gauge">
      <span id={id}>{label}</span>
      <div
        className="gauge-bar"
        role="meter"
        aria-labelledby={id}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
        data-tone={share === 1 ? 'bad' : share >= NEARLY_ALL ? 'warn' : 'accent'}
      >
        <span style={{ width: `${100 * share}%` }} />
      </div>
      <span className="gauge-text">{text}</span>
    </div>
  )
}
