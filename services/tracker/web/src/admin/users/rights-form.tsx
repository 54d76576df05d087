import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, Field, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, type ManagedUser } from '../../api/client.ts'
import { FactorFields } from '../../release/factors-form.tsx'
import { changeOf, consequences, type Rights, rightsOf } from './rights.ts'
import { ROLE_NAMES, ROLES, STATE_NAMES, STATES } from './search.ts'

type Change = Partial<Rights> & { reason?: string }

const FIELDS = ['role', 'state', 'invitesLeft', 'downloadPercent', 'uploadPercent', 'reason'] as const

/** Role, state and rights of a user. What takes something away is said and asked for first. */
export function RightsForm({ user }: { user: ManagedUser }) {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<Change>()
  const save = useMutation<ManagedUser, ApiError, Change>({
    mutationFn: (body) => read(api.PATCH('/api/admin/users/{id}', { params: { path: { id: user.id } }, body })),
    onSuccess: async () => {
      toast('Saved.')
      setAsked(undefined)
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      await queries.invalidateQueries({ queryKey: ['admin', 'users'] })
    },
  })
  const submit = (values: Readonly<Record<string, string>>): void => {
    const change = changeOf(user, rightsOf(values, user))
    if (change === undefined) {
      toast('Nothing was changed.')
      return
    }
    const reason = values['reason']?.trim() ?? ''
    const body = { ...change, ...(reason !== '' && { reason }) }
    if (consequences(change).length > 0) setAsked(body)
    else save.mutate(body)
  }
  const error = asked === undefined ? save.error : null
  return (
    <>
      <Form
        label="Role, state and rights"
        fields={FIELDS}
        error={error}
        isBusy={save.isPending}
        onSubmit={submit}
        actions={
          <Button type="submit" kind="main" isBusy={save.isPending}>
            Save
          </Button>
        }
      >
        <div className="field-row two">
          <Field label="Role" name="role" error={error}>
            {(attributes) => (
              <select {...attributes} className="input" defaultValue={user.role}>
                {ROLES.map((role) => (
                  <option key={role} value={role}>
                    {ROLE_NAMES[role]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="State" name="state" error={error}>
            {(attributes) => (
              <select {...attributes} className="input" defaultValue={user.state}>
                {STATES.map((state) => (
                  <option key={state} value={state}>
                    {STATE_NAMES[state]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <label className="switch">
          <input type="checkbox" name="canDownload" defaultChecked={user.canDownload} />
          May download torrents
        </label>
        <label className="switch">
          <input type="checkbox" name="mayUseApi" defaultChecked={!user.apiBlocked} />
          May use the Torznab API
        </label>
        <FactorFields factors={user} error={error} />
        <TextField
          label="Invites left"
          name="invitesLeft"
          type="number"
          required
          defaultValue={user.invitesLeft}
          min={0}
          max={10_000}
          error={error}
        />
        <TextField
          label="Reason"
          name="reason"
          maxLength={500}
          hint="For the log; the user does not see it."
          error={error}
        />
      </Form>
      {asked && (
        <ConfirmByName
          title={`Change ${user.username}?`}
          name={user.username}
          action="Change"
          error={save.error}
          isBusy={save.isPending}
          onConfirm={() => save.mutate(asked)}
          onCancel={() => {
            setAsked(undefined)
            save.reset()
          }}
        >
          <ul className="bullets">
            {consequences(asked).map((consequence) => (
              <li key={consequence}>{consequence}</li>
            ))}
          </ul>
        </ConfirmByName>
      )}
    </>
  )
}
