import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { Form } from '@vault-and-tracker/web-kit/form'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { api } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'
import { useLinkToken } from './link-token.ts'

/** Confirms the new address of an account with a button, because mail programs open links on their own. */
export function ConfirmEmailPage() {
  const token = useLinkToken()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const confirm = useMutation<unknown, ApiError, string>({
    mutationFn: (given) => read(api.POST('/api/auth/email', { body: { token: given } })),
    onSuccess: async () => {
      toast('Email address confirmed.')
      await queries.invalidateQueries({ queryKey: ownUser.queryKey, exact: true })
      void navigate({ to: '/me', search: { tab: 'security' }, replace: true })
    },
  })
  return (
    <Gate title="Confirm your email address">
      {token === undefined ? (
        <p>This link is incomplete. Open it from the email again.</p>
      ) : (
        <Form
          label="Confirm your email address"
          fields={[]}
          error={confirm.error}
          isBusy={confirm.isPending}
          onSubmit={() => confirm.mutate(token)}
          submit="Confirm address"
        >
          <p>Your account will use this address from now on.</p>
        </Form>
      )}
      <p>
        <Link to="/torrents">Cancel</Link>
      </p>
    </Gate>
  )
}
