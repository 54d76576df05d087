import { lazy, Suspense, useSyncExternalStore } from 'react'
import { sessionEnd } from './session-state.ts'

/** Loaded when a session ends, which most never see. */
const SignInAgain = lazy(async () => ({ default: (await import('./sign-in-again.tsx')).SignInAgain }))

/** Asks to sign in again where a session has ended. */
export function SessionEnd({ onSignedIn }: { onSignedIn: () => void }) {
  const hasEnded = useSyncExternalStore(sessionEnd.subscribe, sessionEnd.read)
  if (!hasEnded) return null
  return (
    <Suspense>
      <SignInAgain onSignedIn={onSignedIn} onClose={sessionEnd.forget} />
    </Suspense>
  )
}
