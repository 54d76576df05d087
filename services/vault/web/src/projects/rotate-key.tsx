import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { SelectField, type Values } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import type { ProjectKey } from '../api/types.ts'
import { chosenKey, KEY_FIELDS, KeyFields } from '../keys/key-fields.tsx'
import { PrivateKeyOffer } from '../keys/private-key-offer.tsx'

const OVERLAPS = [
  ['600', '10 minutes'],
  ['120', '2 minutes'],
  ['0', '0 minutes: they stop immediately'],
] as const

/** Replaces the key of a project. The scope of the newest key is the initial choice. */
export function RotateKey(props: { project: string; newest: ProjectKey | undefined; onClose: () => void }) {
  const { project, newest, onClose } = props
  const queries = useQueryClient()
  const [privateJwk, setPrivateJwk] = useState<string>()
  const rotate = useMutation<string | undefined, ApiError, Values>({
    mutationFn: async (values) => {
      const { publicKey, pair, scope } = await chosenKey(values)
      const body = { publicKey, scope, overlap: Number(values['overlap']) }
      await read(api.PUT('/v1/admin/projects/{id}/rotate', { params: { path: { id: project } }, body }))
      return pair?.privateJwk
    },
    onSuccess: async (made) => {
      await queries.invalidateQueries()
      if (made !== undefined) setPrivateJwk(made)
      else {
        toast('Key rotated.')
        onClose()
      }
    },
    // Keeps the private key out of the cache.
    gcTime: 0,
  })
  if (privateJwk !== undefined)
    return (
      <PrivateKeyOffer project={project} privateJwk={privateJwk} title={`New key for ${project}`} onClose={onClose} />
    )
  return (
    <FormDialog
      title={`Rotate the key of ${project}`}
      action="Rotate key"
      fields={KEY_FIELDS}
      error={rotate.error}
      isBusy={rotate.isPending}
      onSubmit={(values) => rotate.mutate(values)}
      onClose={onClose}
      intro={
        <p>The new key works immediately. Replaced keys keep working for a while so that applications can switch.</p>
      }
    >
      <KeyFields scope={newest?.scope} error={rotate.error} />
      <SelectField label="Replaced keys keep working for" name="overlap" choices={OVERLAPS} />
    </FormDialog>
  )
}
