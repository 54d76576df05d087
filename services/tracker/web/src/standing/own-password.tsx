import { useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { TextField } from '@vault-and-tracker/web-kit/form'
import { ownUser } from '../api/queries.ts'

/** Asks for the password again, in a form that changes who can act as the member. @param props `isFirst` if it gets the focus */
export function OwnPassword({ isFirst = true, error = null }: { isFirst?: boolean; error?: ApiError | null }) {
  const username = useQueryClient().getQueryData(ownUser.queryKey)?.username
  return (
    <>
      <input name="username" autoComplete="username" value={username ?? ''} readOnly hidden />
      <TextField
        label="Your password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        error={error}
        {...(isFirst && { 'data-focus': '' })}
      />
    </>
  )
}
