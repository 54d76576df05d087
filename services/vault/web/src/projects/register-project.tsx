import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { chosenKey, KEY_FIELDS, KeyFields } from '../keys/key-fields.tsx'
import { PrivateKeyOffer } from '../keys/private-key-offer.tsx'

/** The characters of a name, as the API has it. */
const NAME_MAX = 63

type Made = { readonly name: string; readonly privateJwk: string }

/** Registers a project. The private key of a pair that is made here stays here until it is saved. */
export function RegisterProject({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [made, setMade] = useState<Made>()
  const [length, setLength] = useState(0)
  const show = (name: string): void => void navigate({ to: '/projects/$name', params: { name } })
  const register = useMutation<Made | undefined, ApiError, Readonly<Record<string, string>>>({
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
        toast(`${values['name'] ?? ''} is registered.`)
        show(values['name'] ?? '')
      }
    },
    // The private key stays in no cache.
    gcTime: 0,
  })
  if (made !== undefined)
    return (
      <PrivateKeyOffer
        project={made.name}
        privateJwk={made.privateJwk}
        title={`${made.name} is registered`}
        onClose={() => show(made.name)}
      />
    )
  return (
    <FormDialog
      title="Register a project"
      action="Register"
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
        title={`At most ${NAME_MAX} letters, digits, dots, dashes and underscores, the first a letter or digit`}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-focus=""
        onChange={({ target }) => {
          setLength(target.value.length)
          // What was refused is no longer what stands there.
          if (register.isError) register.reset()
        }}
        hint={length > NAME_MAX ? `This name has ${length} characters; at most ${NAME_MAX} are allowed.` : undefined}
        error={register.error}
      />
      <KeyFields scope={undefined} error={register.error} />
      <label className="switch">
        <input type="checkbox" name="digest" />
        Signatures of writes must cover the body
      </label>
    </FormDialog>
  )
}
