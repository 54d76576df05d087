import { useSyncExternalStore } from 'react'
import { toastStore } from './toast.ts'

/** Where messages appear; once on a page. */
export function Toasts() {
  const toasts = useSyncExternalStore(toastStore.subscribe, toastStore.read)
  return (
    <div className="toasts" role="status">
      {toasts.map(({ id, text, tone }) => (
        <p key={id} className="toast" data-tone={tone}>
          {text}
        </p>
      ))}
    </div>
  )
}
