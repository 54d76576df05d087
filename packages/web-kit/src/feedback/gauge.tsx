import { type ReactNode, useId } from 'react'

/** How much of a limit is used: a bar that changes its colour when little is left, and the numbers beside it. */
export function Gauge(props: { label: string; used: number; limit: number; text: ReactNode }) {
  const { label, used, limit, text } = props
  const id = useId()
  return (
    <div className="gauge">
      <span id={id}>{label}</span>
      <meter aria-labelledby={id} min={0} max={limit} low={limit * 0.8} high={limit * 0.999} optimum={0} value={used} />
      <span className="gauge-text">{text}</span>
    </div>
  )
}
