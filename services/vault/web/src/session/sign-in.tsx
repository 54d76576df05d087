import { useMutation } from '@tanstack/react-query'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { Dialog, Discard } from '@vault-and-tracker/web-kit/feedback'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { useStore } from '@vault-and-tracker/web-kit/start'
import { useEffect, useState } from 'react'
import { account, api, read } from '../api/client.ts'
import { closeSession, openSession } from '../api/session.ts'
import type { SignedInAdministrator } from '../api/types.ts'
import { readAdministrator, restoreSession, signInOptions, startAddress } from './restore.ts'

type Reason = { readonly reason: string | undefined }

/** Replaces every page until a token is given. `reason` is why the last session ended. */
export function SignIn({ reason }: Reason) {
  return (
    <Gate title="Sign in">
      {reason !== undefined && (
        <p className="notice" role="status">
          {reason}
        </p>
      )}
      <SignInForm isAgain={false} />
    </Gate>
  )
}

/** Shown over the page, which is hidden and keeps what was typed for the same administrator. */
export function SignInAgain({ reason }: Reason) {
  const [isLeaving, setLeaving] = useState(false)
  // They may sign in with OIDC in another tab and come back.
  useEffect(() => {
    const look = (): void => void restoreSession()
    addEventListener('focus', look)
    return () => removeEventListener('focus', look)
  }, [])
  return (
    <Dialog title="Sign in again" onClose={() => setLeaving(true)}>
      <p>{reason} What you typed is kept until someone else signs in.</p>
      <SignInForm isAgain />
      {isLeaving && <Discard onDiscard={() => closeSession(reason)} onKeep={() => setLeaving(false)} />}
    </Dialog>
  )
}

/** @param props `isAgain` if the page must not be left */
function SignInForm({ isAgain }: { isAgain: boolean }) {
  const { oidc } = useStore(signInOptions)
  const signIn = useMutation<SignedInAdministrator, ApiError, string>({
    mutationFn: begin,
    onSuccess: (administrator) => {
      account.signedIn(administrator.actor)
      openSession(administrator)
    },
    meta: { isSignIn: true },
    // Keeps the token out of the cache.
    gcTime: 0,
  })
  return (
    <>
      {oidc !== null && (
        <>
          <a
            className="button"
            data-kind="main"
            href={startAddress(oidc.url)}
            {...(isAgain && { target: '_blank', rel: 'noopener' })}
          >
            Sign in with {oidc.label}
          </a>
          {isAgain && <p className="muted">In a new tab. Return to this one afterwards.</p>}
          <p className="muted">Or use a token:</p>
        </>
      )}
      <Form
        label="Sign in"
        isDraft={false}
        fields={['token']}
        error={signIn.error}
        isBusy={signIn.isPending}
        onSubmit={({ token = '' }) => signIn.mutate(token.trim())}
        submit="Sign in"
      >
        {/* Password managers save nothing without a name. */}
        <input name="username" autoComplete="username" value="administrator" readOnly hidden />
        <TextField
          label="Admin token"
          name="token"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          autoFocus={oidc === null}
          error={signIn.error}
          hint="On a new server, enter its ADMIN_TOKEN. You stay signed in for 8 hours; the browser does not store the token."
        />
      </Form>
    </>
  )
}

/** Begins a session. A token that a header cannot contain is wrong (RFC 6750 section 2.1). */
async function begin(token: string): Promise<SignedInAdministrator> {
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token)) throw wrongToken()
  try {
    await read(api.POST('/v1/admin/session', { headers: { Authorization: `Bearer ${token}` } }))
  } catch (error) {
    throw error instanceof ApiError && error.status === 401 ? wrongToken() : error
  }
  return readAdministrator()
}

function wrongToken(): ApiError {
  return new ApiError({ status: 401, code: 'unauthorized', message: 'token: this is not a valid admin token' })
}
