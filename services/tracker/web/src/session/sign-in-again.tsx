import { useQueryClient } from '@tanstack/react-query'
import { Dialog } from '@vault-and-tracker/web-kit/feedback'
import { account } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Shown over the page, which keeps what was typed. */
export function SignInAgain({ onSignedIn, onClose }: { onSignedIn: () => void; onClose: () => void }) {
  const username = useQueryClient().getQueryData(ownUser.queryKey)?.username
  return (
    <Dialog title="Your session has ended" onClose={onClose}>
      {account.isSwitched() && (
        <p>This browser is now signed in to another account. To use that account, reload the page.</p>
      )}
      <p>Sign in to continue. What you typed is still here. If you were sending a form, send it again.</p>
      <SignInForm username={username} onSignedIn={onSignedIn} />
    </Dialog>
  )
}
