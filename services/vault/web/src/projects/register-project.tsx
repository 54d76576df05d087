import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { chosenKey, KEY_FIELDS, KeyFields } from '../keys/key-fields.tsx'
import { PrivateKeyOffer } from '../keys/private-key-offer.tsx'

/** As in the API. */
const NAME_MAX = 63

type Made = { readonly name: string; readonly privateJwk: string }

/** Registers a project. A private key that is generated here stays here until it is saved. */
export function RegisterProject({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [made, setMade] = useState<Made>()
  const [length, setLength] = useState(0)
  const show = (name: string): void => void navigate({ to: '/projects/$name', params: { name } })
  const register = useMutation<Made | undefined, ApiError, Values>({
    mutationFn: async (values) => {
      const { publicKey, pair, scope } = await chosenKey(values)
      const name = values['name'] ?? ''
      const body = { name, publicKey, scope, requireContentDigest: values['digest'] === 'on' }
      await read(api.POST('/v1/admin/projects', { body }))
      return pair && { name, privateJwk: pair.privateJwk }
    },
    onSuccess: async (pair, values) => {
      await queries.invalidateQueries()
      if (pair !== undefined) setMade(pair)
      else {
        toast(`Project ${values['name'] ?? ''} registered.`)
        show(values['name'] ?? '')
      }
    },
    // Keeps the private key out of the cache.
    gcTime: 0,
  })
  if (made !== undefined)
    return (
      <PrivateKeyOffer
        project={made.name}
        name="default"
        privateJwk={made.privateJwk}
        title={`Project ${made.name} registered`}
        onClose={() => show(made.name)}
      />
    )
  return (
    <FormDialog
      title="Register project"
      action="Register project"
      fields={['name', ...KEY_FIELDS]}
      error={register.error}
      isBusy={register.isPending}
      onSubmit={(values) => register.mutate(values)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        required
        pattern={`[A-Za-z0-9][A-Za-z0-9._\\-]{0,${NAME_MAX - 1}}`}
        title={`Up to ${NAME_MAX} letters, digits, dots, dashes and underscores, starting with a letter or digit`}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-focus=""
        onChange={({ target }) => {
          setLength(target.value.length)
          // The error was about the previous text.
          if (register.isError) register.reset()
        }}
        hint={length > NAME_MAX ? `The name has ${length} characters. The maximum is ${NAME_MAX}.` : undefined}
        error={register.error}
      />
      <KeyFields scope={undefined} error={register.error} />
      <label className="switch">
        <input type="checkbox" name="digest" />
        Require a content digest for writes
      </label>
    </FormDialog>
  )
}
