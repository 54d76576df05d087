import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, TextArea } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { StaffTexts } from './staff-texts.tsx'

type Warned = { readonly id: string; readonly username: string; readonly warnings: number }

/** The latest warnings. */
const userWarnings = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'warnings', id],
    queryFn: async ({ signal }) => {
      const query = { limit: 10 }
      return (await read(api.GET('/api/admin/users/{id}/warnings', { params: { path: { id }, query }, signal }))).items
    },
  })

/** The latest warnings to a user, and a form for another. */
export function Warnings({ user }: { user: Warned }) {
  const { data } = useQuery(userWarnings(user.id))
  const [isWarning, setWarning] = useState(false)
  return (
    <section aria-labelledby="warnings" className="card narrow">
      <h2 id="warnings">Warnings</h2>
      <p>{user.warnings === 0 ? 'No warnings yet.' : formatNumberOf(user.warnings, 'warning')}</p>
      {data !== undefined && data.length > 0 && <StaffTexts texts={data} />}
      <div className="form-actions">
        <Button onClick={() => setWarning(true)}>Warn user</Button>
      </div>
      {isWarning && <WarnDialog user={user} onClose={() => setWarning(false)} />}
    </section>
  )
}

function WarnDialog({ user, onClose }: { user: Warned; onClose: () => void }) {
  const queries = useQueryClient()
  const warn = useMutation<unknown, ApiError, string>({
    mutationFn: (text) =>
      read(api.POST('/api/admin/users/{id}/warnings', { params: { path: { id: user.id } }, body: { text } })),
    onSuccess: () => {
      toast('User warned.')
      onClose()
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      void queries.invalidateQueries({ queryKey: ['admin', 'users'] })
    },
  })
  return (
    <FormDialog
      title={`Warn ${user.username}?`}
      action="Warn user"
      fields={['text']}
      error={warn.error}
      isBusy={warn.isPending}
      onSubmit={({ text = '' }) => warn.mutate(text)}
      onClose={onClose}
    >
      <TextArea
        label="Warning"
        name="text"
        required
        maxLength={1_000}
        hint="The user receives it as a notice, which stays unread until they open it."
        error={warn.error}
        data-focus=""
      />
    </FormDialog>
  )
}
