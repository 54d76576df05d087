import { createStore, useStore } from '@vault-and-tracker/web-kit/start'
import { lazy, Suspense } from 'react'

/** Loaded only when a session ends. */
const SignInAgain = lazy(async () => ({ default: (await import('./sign-in-again.tsx')).SignInAgain }))

/** Whether a request was refused because the session has ended. */
export const sessionHasEnded = createStore(false)

/** Asks to sign in again over the page. */
export function SessionEnd({ onSignedIn }: { onSignedIn: () => void }) {
  if (!useStore(sessionHasEnded)) return null
  return (
    <Suspense>
      <SignInAgain onSignedIn={onSignedIn} onClose={() => sessionHasEnded.set(false)} />
    </Suspense>
  )
}
