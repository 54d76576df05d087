import { useMutation } from '@tanstack/react-query'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { useStore } from '@vault-and-tracker/web-kit/start'
import { api, bearer, read } from '../api/client.ts'
import { openSession } from '../api/session.ts'
import type { SignedInAdministrator } from '../api/types.ts'
import { signInOptions, startAddress } from './restore.ts'

/** Replaces every page until a token is given. `reason` is why the last session ended. */
export function SignIn({ reason }: { reason: string | undefined }) {
  const { oidc } = useStore(signInOptions)
  const signIn = useMutation<SignedInAdministrator, ApiError, string>({
    mutationFn: identify,
    onSuccess: (administrator, token) => openSession(token, administrator),
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
        <TextField
          label="Administrator token"
          name="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          autoFocus={oidc === null}
          error={signIn.error}
          hint="Stored only in this page. After a reload, you sign in again."
        />
      </Form>
    </Gate>
  )
}

/** Returns the administrator of a token. A token that a header cannot contain is wrong (RFC 6750 section 2.1). */
async function identify(token: string): Promise<SignedInAdministrator> {
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token)) throw wrongToken()
  try {
    return await read(api.GET('/v1/admin/me', { headers: { Authorization: bearer(token) } }))
  } catch (error) {
    throw error instanceof ApiError && error.status === 401 ? wrongToken() : error
  }
}

function wrongToken(): ApiError {
  return new ApiError({ status: 401, code: 'unauthorized', message: 'token: this is not a valid administrator token' })
}
