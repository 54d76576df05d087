import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { TextField } from '@vault-and-tracker/web-kit/form'

/** The name, address and password of a new account. */
export function NewAccountFields({ error, autoFocus = false }: { error: ApiError | null; autoFocus?: boolean }) {
  return (
    <>
      <TextField
        label="Username"
        autoFocus={autoFocus}
        name="username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        minLength={2}
        maxLength={32}
        pattern="[A-Za-z0-9_][A-Za-z0-9._\-]*"
        title="Letters, digits, dots, dashes and underscores"
        error={error}
      />
      <TextField label="Email" name="email" type="email" autoComplete="email" required maxLength={254} error={error} />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        maxLength={256}
        hint="At least 8 characters."
        error={error}
      />
    </>
  )
}
