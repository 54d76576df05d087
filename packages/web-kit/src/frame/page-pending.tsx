import { Pending } from '../feedback/states.tsx'

/** What stands where a page will be while its code or its data is on its way. */
export function PagePending() {
  return (
    <>
      <h1 className="visually-hidden">Loading</h1>
      <Pending error={null} onRetry={() => undefined} rows={12} label="The page is loading." />
    </>
  )
}
