import { useMutation } from '@tanstack/react-query'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { useStore } from '@vault-and-tracker/web-kit/start'
import { account, api, read } from '../api/client.ts'
import { openSession } from '../api/session.ts'
import type { SignedInAdministrator } from '../api/types.ts'
import { readAdministrator, signInOptions, startAddress } from './restore.ts'

/** Replaces every page until a token is given. `reason` is why the last session ended. */
export function SignIn({ reason }: { reason: string | undefined }) {
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
    <Gate title="Sign in">
      {reason !== undefined && (
        <p className="notice" role="status">
          {reason}
        </p>
      )}
      {oidc !== null && (
        <>
          <a className="button" data-kind="main" href={startAddress(oidc.url)}>
            Sign in with {oidc.label}
          </a>
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
          label="Administrator token"
          name="token"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          autoFocus={oidc === null}
          error={signIn.error}
          hint="You stay signed in for 8 hours in this browser, which does not store the token."
        />
      </Form>
    </Gate>
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
  return new ApiError({ status: 401, code: 'unauthorized', message: 'token: this is not a valid administrator token' })
}
