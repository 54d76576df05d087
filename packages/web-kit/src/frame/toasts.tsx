import { toasts } from '../feedback/toast.ts'
import { useStore } from '../start/store.ts'

/** The newest message, or the newest failure if there is one. It has its own place in the bar, so it covers nothing. */
export function Toasts() {
  const shown = useStore(toasts)
  const newest = shown.findLast(({ tone }) => tone === 'bad') ?? shown.at(-1)
  return (
    <div className="toasts" role="status">
      {newest && (
        <p key={newest.id} className="toast" data-tone={newest.tone} title={newest.text}>
          {newest.text}
        </p>
      )}
    </div>
  )
}
