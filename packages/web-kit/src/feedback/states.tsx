import type { ReactNode } from 'react'
import { explain } from '../api/error.ts'
import { Button } from '../form/button.tsx'

/** A list without entries: what that means and what to do next. */
export function Empty({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <div className="state">
      <div className="state-title">{title}</div>
      {children}
    </div>
  )
}

/** What happened, and another try. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className="state" role="alert">
      <p className="state-title">This could not be loaded.</p>
      <p>{explain(error)}</p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

/** Lines of the height that the content will have. */
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

/** What stands where data will be: lines while it is on its way, or what went wrong. */
export function Pending(props: { error: unknown; onRetry: () => void; rows: number; label: string }) {
  const { error, onRetry, rows, label } = props
  return error ? <Problem error={error} onRetry={onRetry} /> : <Skeleton rows={rows} label={label} />
}
