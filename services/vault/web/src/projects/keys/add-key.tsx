import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import type { Values } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { chosenExpiry, chosenKey, ExpiryField, KEY_FIELDS, KeyFields, KeyNameField } from '../../keys/key-fields.tsx'
import { PrivateKeyOffer } from '../../keys/private-key-offer.tsx'

type Made = { readonly name: string; readonly privateJwk: string }

/** Adds a key to a project. A private key that is generated here stays here until it is saved. */
export function AddKey({ project, onClose }: { project: string; onClose: () => void }) {
  const queries = useQueryClient()
  const [made, setMade] = useState<Made>()
  const add = useMutation<Made | undefined, ApiError, Values>({
    mutationFn: async (values) => {
      const { publicKey, pair, scope } = await chosenKey(values)
      const name = values['name'] ?? ''
      const body = { name, publicKey, scope, expiresAt: chosenExpiry(values) }
      await read(api.POST('/v1/admin/projects/{id}/keys', { params: { path: { id: project } }, body }))
      return pair && { name, privateJwk: pair.privateJwk }
    },
    onSuccess: async (pair, values) => {
      await queries.invalidateQueries()
      if (pair !== undefined) setMade(pair)
      else {
        toast(`Key ${values['name'] ?? ''} added.`)
        onClose()
      }
    },
    // Keeps the private key out of the cache.
    gcTime: 0,
  })
  if (made !== undefined)
    return <PrivateKeyOffer project={project} {...made} title={`Key ${made.name} added`} onClose={onClose} />
  return (
    <FormDialog
      title={`Add a key to ${project}`}
      action="Add key"
      fields={['name', ...KEY_FIELDS, 'expiresAt']}
      error={add.error}
      isBusy={add.isPending}
      onSubmit={(values) => add.mutate(values)}
      onClose={onClose}
      intro={
        <p>
          The key works immediately, alongside the others. Give each person, host and job its own key, so that you can
          revoke it without affecting anyone else.
        </p>
      }
    >
      <KeyNameField hint="Shown in the audit log, for example dana or ci." error={add.error} />
      <KeyFields scope={undefined} error={add.error} />
      <ExpiryField until={null} error={add.error} />
    </FormDialog>
  )
}
