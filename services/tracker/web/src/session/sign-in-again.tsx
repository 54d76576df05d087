import { useQueryClient } from '@tanstack/react-query'
import { Dialog } from '@vault-and-tracker/web-kit/feedback'
import { ownUser } from '../api/queries.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Over a page whose session ended: what was typed there stays. */
export function SignInAgain({ onSignedIn, onClose }: { onSignedIn: () => void; onClose: () => void }) {
  const username = useQueryClient().getQueryData(ownUser.queryKey)?.username
  return (
    <Dialog title="Your session has ended" onClose={onClose}>
      <p>Sign in and go on here. Nothing you typed is lost; what you were sending has to be sent again.</p>
      <SignInForm username={username} onSignedIn={onSignedIn} />
    </Dialog>
  )
}
