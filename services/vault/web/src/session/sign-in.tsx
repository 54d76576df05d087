import { useMutation } from '@tanstack/react-query'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { api, bearer, read } from '../api/client.ts'
import { session } from '../api/session.ts'
import type { SignedInAdministrator } from '../api/types.ts'

/**
 * Asks for an administrator's token; it stands in place of the page that was asked for.
 *
 * @param props `reason` is why somebody who was signed in no longer is
 */
export function SignIn({ reason }: { reason: string | undefined }) {
  const signIn = useMutation<SignedInAdministrator, ApiError, string>({
    mutationFn: (token) => identify(token),
    onSuccess: (administrator, token) => session.open(token, administrator),
    meta: { isSignIn: true },
    // Neither the token nor who it is of stays in the cache.
    gcTime: 0,
  })
  usePageTitle('Sign in')
  return (
    <div className="gate">
      <p className="brand">Vault</p>
      <h1>Sign in</h1>
      {reason !== undefined && (
        <p className="notice" role="status">
          {reason}
        </p>
      )}
      <Form
        label="Sign in"
        fields={['token']}
        error={signIn.error}
        isBusy={signIn.isPending}
        onSubmit={(values) => signIn.mutate((values['token'] ?? '').trim())}
        actions={
          <Button type="submit" kind="main" isBusy={signIn.isPending}>
            Sign in
          </Button>
        }
      >
        <TextField
          label="Administrator's token"
          name="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          autoFocus
          error={signIn.error}
          hint="It stays in this page only: after a reload you are asked again."
        />
      </Form>
    </div>
  )
}

/** Whose token it is. What cannot be in a header is nobody's (RFC 6750 section 2.1). */
async function identify(token: string): Promise<SignedInAdministrator> {
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token)) throw wrongToken()
  try {
    return await read(api.GET('/v1/admin/me', { headers: { Authorization: bearer(token) } }))
  } catch (error) {
    throw error instanceof ApiError && error.status === 401 ? wrongToken() : error
  }
}

function wrongToken(): ApiError {
  return new ApiError({ status: 401, code: 'unauthorized', message: 'token: this is not a token of an administrator' })
}
