import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, SecretOffer } from '@vault-and-tracker/web-kit/feedback'
import { Field, TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { administrators } from '../api/queries.ts'

type Added = { readonly name: string; readonly token: string }

/** Adds an administrator, and shows their token this once. */
export function AddAdministrator({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [added, setAdded] = useState<Added>()
  const add = useMutation<Added, ApiError, Readonly<Record<string, string>>>({
    mutationFn: async (values) => {
      const body = bodyOf(values)
      const { token } = await read(api.POST('/v1/admin/administrators', { body }))
      return { name: body.name, token }
    },
    onSuccess: async (made) => {
      setAdded(made)
      await queries.invalidateQueries({ queryKey: administrators.queryKey })
    },
    // The token stays in no cache.
    gcTime: 0,
  })
  if (added !== undefined)
    return (
      <SecretOffer
        title={`The token of ${added.name}`}
        text={added.token}
        what="token"
        warning="It is not copied. Nobody can show it again: without it, remove this administrator and add them anew."
        onClose={onClose}
      >
        <p>
          The vault keeps a hash of it only, so this is the one time it is shown. Hand it over by a way that nobody
          reads.
        </p>
      </SecretOffer>
    )
  return (
    <FormDialog
      title="Add an administrator"
      action="Add"
      fields={['name', 'projects', 'expiresAt']}
      error={add.error}
      isBusy={add.isPending}
      onSubmit={(values) => add.mutate(values)}
      onClose={onClose}
    >
      <TextField label="Name" name="name" required maxLength={100} autoComplete="off" data-focus="" error={add.error} />
      <Field label="Role" name="role">
        {(attributes) => (
          <select {...attributes} className="input">
            <option value="auditor">Auditor: only reads</option>
            <option value="administrator">Administrator: also changes, but no administrators</option>
          </select>
        )}
      </Field>
      <TextField
        label="Projects"
        name="projects"
        placeholder="all"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,62}(\s*,\s*[A-Za-z0-9][A-Za-z0-9._\-]{0,62})*"
        title="Names of projects with commas between them"
        hint="shop, blog; empty for all."
        error={add.error}
      />
      <TextField
        label="Expires"
        name="expiresAt"
        type="datetime-local"
        hint="Empty for a token that ends only when it is removed."
        error={add.error}
      />
    </FormDialog>
  )
}

function bodyOf(values: Readonly<Record<string, string>>) {
  const projects = (values['projects'] ?? '').split(',').flatMap((name) => name.trim() || [])
  const expiresAt = values['expiresAt'] ?? ''
  return {
    name: values['name'] ?? '',
    role: values['role'] === 'administrator' ? ('administrator' as const) : ('auditor' as const),
    projects: projects.length === 0 ? null : projects,
    expiresAt: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
  }
}
