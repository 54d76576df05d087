import { explain, isSignedOut } from '../api/error.ts'

/** A short message about what was just done. */
export type Toast = { readonly id: number; readonly text: string; readonly tone: 'plain' | 'bad' }

const SHOWN_MS = 5_000
let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function replace(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

/** Shows a message for five seconds; screen readers read it out. */
export function toast(text: string, tone: Toast['tone'] = 'plain'): void {
  lastId += 1
  const shown = { id: lastId, text, tone }
  replace([...toasts, shown])
  setTimeout(() => replace(toasts.filter((each) => each !== shown)), SHOWN_MS)
}

/** Shows why something was not done. An ended session is no news here: the page asks to sign in. */
export function toastProblem(error: Error): void {
  if (!isSignedOut(error)) toast(explain(error), 'bad')
}

/** For `useSyncExternalStore`. */
export const toastStore = {
  read: (): readonly Toast[] => toasts,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}
