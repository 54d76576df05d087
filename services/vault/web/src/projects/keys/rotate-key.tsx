import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { SelectField, type Values } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import type { ProjectKey } from '../../api/types.ts'
import { chosenExpiry, chosenKey, ExpiryField, isSameExpiry, KEY_FIELDS, KeyFields } from '../../keys/key-fields.tsx'
import { PrivateKeyOffer } from '../../keys/private-key-offer.tsx'

const OVERLAPS = [
  ['600', '10 minutes'],
  ['120', '2 minutes'],
  ['0', '0 minutes: it stops immediately'],
] as const

/** Replaces a key of a project. The scope and the expiry of the replaced key are the initial choice. */
export function RotateKey(props: { project: string; replaced: ProjectKey; onClose: () => void }) {
  const { project, replaced, onClose } = props
  const { name, scope, until } = replaced
  const queries = useQueryClient()
  const [privateJwk, setPrivateJwk] = useState<string>()
  const rotate = useMutation<string | undefined, ApiError, Values>({
    mutationFn: async (values) => {
      const { publicKey, pair, scope } = await chosenKey(values)
      const body = {
        ...{ name, publicKey, scope, overlap: Number(values['overlap']) },
        // Without the member, the vault keeps the expiry to the second.
        ...(!isSameExpiry(values, until) && { expiresAt: chosenExpiry(values) }),
      }
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
      <PrivateKeyOffer
        {...{ project, name, privateJwk, onClose }}
        title={name === 'default' ? `New key for ${project}` : `New key ${name} for ${project}`}
      />
    )
  return (
    <FormDialog
      title={`Rotate the key ${name} of ${project}`}
      action="Rotate key"
      fields={[...KEY_FIELDS, 'expiresAt']}
      error={rotate.error}
      isBusy={rotate.isPending}
      onSubmit={(values) => rotate.mutate(values)}
      onClose={onClose}
      intro={
        <p>
          The new key works immediately. The replaced key keeps working for a while so that applications can switch.
          Keys with other names do not change.
        </p>
      }
    >
      <KeyFields scope={scope} error={rotate.error} />
      <ExpiryField until={until} error={rotate.error} />
      <SelectField label="Replaced key keeps working for" name="overlap" choices={OVERLAPS} />
    </FormDialog>
  )
}
