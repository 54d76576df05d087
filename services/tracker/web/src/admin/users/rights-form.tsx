import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { Form, SelectField, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, type ManagedUser } from '../../api/client.ts'
import { RateFields } from '../../release/rates-form.tsx'
import { toLocalInput } from '../parts/time-fields.tsx'
import { changeOf, consequences, type Rights, rightsOf } from './rights.ts'
import { ROLE_CHOICES, STATE_CHOICES } from './search.ts'

type Change = Partial<Rights> & { reason?: string }

const FIELDS = [
  ...['role', 'state', 'suspendedUntil', 'downloadPercent', 'uploadPercent'],
  ...['invitesLeft', 'announceLimit', 'reason'],
]

/** The role, state, permissions and rates of a user. Changes with consequences need a confirmation. */
export function RightsForm({ user }: { user: ManagedUser }) {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<Change>()
  const [state, setState] = useState<string>(user.state)
  const save = useMutation<ManagedUser, ApiError, Change>({
    mutationFn: (body) => read(api.PATCH('/api/admin/users/{id}', { params: { path: { id: user.id } }, body })),
    onSuccess: async () => {
      toast('Saved.')
      setAsked(undefined)
      void queries.invalidateQueries({ queryKey: ['admin', 'log'] })
      await queries.invalidateQueries({ queryKey: ['admin', 'users'] })
    },
  })
  const submit = (values: Values): void => {
    const change = changeOf(user, rightsOf(values, user))
    if (change === undefined) {
      toast('No changes.')
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
        label="Access and rates"
        fields={FIELDS}
        error={error}
        isBusy={save.isPending}
        onSubmit={submit}
        submit="Save changes"
      >
        <div className="field-row">
          <SelectField label="Role" name="role" defaultValue={user.role} choices={ROLE_CHOICES} error={error} />
          <SelectField
            label="State"
            name="state"
            defaultValue={user.state}
            onChange={({ target }) => setState(target.value)}
            choices={STATE_CHOICES}
            error={error}
          />
        </div>
        {state === 'suspended' && (
          <TextField
            label="Suspended until"
            name="suspendedUntil"
            type="datetime-local"
            defaultValue={toLocalInput(user.suspendedUntil)}
            hint="Leave empty for a suspension without an end."
            error={error}
          />
        )}
        <label className="switch">
          <input type="checkbox" name="canDownload" defaultChecked={user.canDownload} />
          Can download torrents
        </label>
        <label className="switch">
          <input type="checkbox" name="mayUseApi" defaultChecked={!user.apiBlocked} />
          Can use the Torznab API and API tokens
        </label>
        <RateFields rates={user} error={error} />
        <div className="field-row">
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
            label="Announces per minute"
            name="announceLimit"
            type="number"
            defaultValue={user.announceLimit ?? ''}
            min={0}
            max={1_000_000}
            hint="Empty for the limit of the server, 0 for no limit."
            error={error}
          />
        </div>
        <TextField
          label="Reason"
          name="reason"
          maxLength={500}
          required={state === 'suspended' && user.state !== 'suspended'}
          hint="For the admin log. Suspended and banned users also see it."
          error={error}
        />
      </Form>
      {asked && (
        <ConfirmByName
          title={`Change user ${user.username}?`}
          name={user.username}
          action="Save changes"
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
