import { useQueryClient } from '@tanstack/react-query'
import { Dialog } from '@vault-and-tracker/web-kit/feedback'
import { useSyncExternalStore } from 'react'
import { ownUser } from '../api/queries.ts'
import { sessionEnd } from './session-end.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Over a page whose session ended while something was being sent: what was typed stays. */
export function SignInAgain() {
  const hasEnded = useSyncExternalStore(sessionEnd.subscribe, sessionEnd.read)
  const username = useQueryClient().getQueryData(ownUser.queryKey)?.username
  if (!hasEnded) return null
  return (
    <Dialog title="Your session has ended" onClose={sessionEnd.forget}>
      <p>Sign in, then send it again. Nothing you typed is lost.</p>
      <SignInForm username={username} onSignedIn={sessionEnd.forget} />
    </Dialog>
  )
}
