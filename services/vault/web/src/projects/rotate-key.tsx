import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Field } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import type { ProjectKey } from '../api/types.ts'
import { chosenKey, KEY_FIELDS, KeyFields } from '../keys/key-fields.tsx'
import { PrivateKeyOffer } from '../keys/private-key-offer.tsx'

const OVERLAPS = [
  [600, 'Ten minutes'],
  [120, 'Two minutes'],
  [0, 'Not at all: they end at once'],
] as const

/** Replaces the key of a project. @param props `newest` is the key whose scope is kept unless another is chosen */
export function RotateKey(props: { project: string; newest: ProjectKey | undefined; onClose: () => void }) {
  const { project, newest, onClose } = props
  const queries = useQueryClient()
  const [privateJwk, setPrivateJwk] = useState<string>()
  const rotate = useMutation<string | undefined, ApiError, Readonly<Record<string, string>>>({
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
        toast(`${project} has a new key.`)
        onClose()
      }
    },
    // The private key stays in no cache.
    gcTime: 0,
  })
  if (privateJwk !== undefined)
    return (
      <PrivateKeyOffer project={project} privateJwk={privateJwk} title={`${project} has a new key`} onClose={onClose} />
    )
  return (
    <FormDialog
      title={`Rotate the key of ${project}`}
      action="Rotate"
      fields={KEY_FIELDS}
      error={rotate.error}
      isBusy={rotate.isPending}
      onSubmit={(values) => rotate.mutate(values)}
      onClose={onClose}
      intro={
        <p>The new key works at once. Replaced keys work for a while longer, so that applications can change over.</p>
      }
    >
      <KeyFields scope={newest?.scope} error={rotate.error} />
      <Field label="Replaced keys stay valid" name="overlap">
        {(attributes) => (
          <select {...attributes} className="input">
            {OVERLAPS.map(([seconds, text]) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  )
}
