import { Pending } from '../feedback/states.tsx'

/** Takes the place of a page while its code or data loads. */
export function PagePending() {
  return (
    <>
      <h1 className="visually-hidden">Loading</h1>
      <Pending error={null} onRetry={() => undefined} rows={12} label="Loading the page…" />
    </>
  )
}
