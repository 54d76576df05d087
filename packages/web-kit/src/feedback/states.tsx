import type { ReactNode } from 'react'
import { explain } from '../api/error.ts'
import { Button } from '../form/button.tsx'

/** An empty list: what that means and the next step. */
export function Empty({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <div className="state">
      <div className="state-title">{title}</div>
      {children}
    </div>
  )
}

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className="state" role="alert">
      <p className="state-title">Could not load this</p>
      <p>{explain(error)}</p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

/** As high as the content will be. */
function Skeleton({ rows, label }: { rows: number; label: string }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton-row" aria-hidden="true" />
      ))}
    </div>
  )
}

/** Takes the place of data: a skeleton while it loads, or an error. */
export function Pending(props: { error: unknown; onRetry: () => void; rows: number; label: string }) {
  const { error, onRetry, rows, label } = props
  return error ? <Problem error={error} onRetry={onRetry} /> : <Skeleton rows={rows} label={label} />
}
