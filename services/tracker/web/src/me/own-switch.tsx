import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { api, type OwnUser } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'

/** Switches a preference of the member on and off. */
export function OwnSwitch(props: { user: OwnUser; of: 'passkeyOpensTorznab' | 'statsPublic'; label: string }) {
  const { user, of, label } = props
  const queries = useQueryClient()
  const change = useMutation<OwnUser, ApiError, boolean>({
    mutationFn: (isOn) => read(api.PATCH('/api/user/me', { body: { [of]: isOn } })),
    onSuccess: (changed) => {
      queries.setQueryData(ownUser.queryKey, changed)
      toast('Saved.')
    },
    onError: toastProblem,
  })
  return (
    <label className="switch">
      <input
        type="checkbox"
        checked={change.isPending ? change.variables : user[of]}
        onChange={({ target }) => change.mutate(target.checked)}
      />
      {label}
    </label>
  )
}
