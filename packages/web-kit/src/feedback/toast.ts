import { explain, isSignedOut } from '../api/error.ts'
import { createStore } from '../start/store.ts'

export type Toast = { readonly id: number; readonly text: string; readonly tone: 'plain' | 'bad' }

const SHOWN_MS = 5_000
let lastId = 0

export const toasts = createStore<readonly Toast[]>([])

/** Shows a message for five seconds. Screen readers announce it. */
export function toast(text: string, tone: Toast['tone'] = 'plain'): void {
  lastId += 1
  const shown = { id: lastId, text, tone }
  toasts.set([...toasts.read(), shown])
  setTimeout(() => toasts.set(toasts.read().filter((each) => each !== shown)), SHOWN_MS)
}

/** Shows why an action failed. If the session has ended, the application asks to sign in instead. */
export function toastProblem(error: Error): void {
  if (!isSignedOut(error)) toast(explain(error), 'bad')
}
