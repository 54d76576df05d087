import { lazyDialog } from '@vault-and-tracker/web-kit/feedback'
import { createStore, useStore } from '@vault-and-tracker/web-kit/start'

const SignInAgain = lazyDialog<{ onSignedIn: () => void; onClose: () => void }>(
  async () => (await import('./sign-in-again.tsx')).SignInAgain,
)

/** Whether a request was refused because the session has ended. */
export const sessionHasEnded = createStore(false)

/** Asks to sign in again over the page. */
export function SessionEnd({ onSignedIn }: { onSignedIn: () => void }) {
  if (!useStore(sessionHasEnded)) return null
  return <SignInAgain onSignedIn={onSignedIn} onClose={() => sessionHasEnded.set(false)} />
}
