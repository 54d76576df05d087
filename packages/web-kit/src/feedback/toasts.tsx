import { useStore } from '../start/store.ts'
import { toasts } from './toast.ts'

/** Where messages appear; once per page. */
export function Toasts() {
  return (
    <div className="toasts" role="status">
      {useStore(toasts).map(({ id, text, tone }) => (
        <p key={id} className="toast" data-tone={tone}>
          {text}
        </p>
      ))}
    </div>
  )
}
