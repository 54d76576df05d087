import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, SecretOffer } from '@vault-and-tracker/web-kit/feedback'
import { SelectField, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { administrators } from '../api/queries.ts'

type Added = { readonly name: string; readonly token: string }

/** Adds an administrator and shows their token once. */
export function AddAdministrator({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [added, setAdded] = useState<Added>()
  const add = useMutation<Added, ApiError, Values>({
    mutationFn: async (values) => {
      const body = bodyOf(values)
      const { token } = await read(api.POST('/v1/admin/administrators', { body }))
      return { name: body.name, token }
    },
    onSuccess: async (made) => {
      setAdded(made)
      await queries.invalidateQueries({ queryKey: administrators.queryKey })
    },
    // Keeps the token out of the cache.
    gcTime: 0,
  })
  if (added !== undefined)
    return (
      <SecretOffer
        title={`Token of ${added.name}`}
        text={added.token}
        what="token"
        warning="You have not copied the token. It cannot be shown again. If you lose it, remove this administrator and add them again."
        onClose={onClose}
      >
        <p>The vault stores only a hash, so the token is shown only once. Send it through a private channel.</p>
      </SecretOffer>
    )
  return (
    <FormDialog
      title="Add administrator"
      action="Add administrator"
      fields={['name', 'projects', 'expiresAt']}
      error={add.error}
      isBusy={add.isPending}
      onSubmit={(values) => add.mutate(values)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        dir="auto"
        required
        maxLength={100}
        autoComplete="off"
        data-focus=""
        error={add.error}
      />
      <SelectField
        label="Role"
        name="role"
        choices={[
          ['auditor', 'Auditor: read only'],
          ['editor', 'Editor: read, and write secrets'],
          ['administrator', 'Administrator: read and write, except administrators'],
        ]}
      />
      <TextField
        label="Projects"
        name="projects"
        placeholder="all"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,62}(\s*,\s*[A-Za-z0-9][A-Za-z0-9._\-]{0,62})*"
        title="Project names, separated by commas"
        hint="For example shop, blog. Leave empty for all."
        error={add.error}
      />
      <TextField
        label="Expires"
        name="expiresAt"
        type="datetime-local"
        hint="Leave empty for a token that does not expire."
        error={add.error}
      />
    </FormDialog>
  )
}

const ROLES = ['auditor', 'editor', 'administrator'] as const

function bodyOf(values: Values) {
  const projects = (values['projects'] ?? '').split(',').flatMap((name) => name.trim() || [])
  const expiresAt = values['expiresAt'] ?? ''
  return {
    name: values['name'] ?? '',
    role: ROLES.find((role) => role === values['role']) ?? 'auditor',
    projects: projects.length === 0 ? null : projects,
    expiresAt: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
  }
}
