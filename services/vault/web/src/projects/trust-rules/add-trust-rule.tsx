import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { TextArea, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { api, read } from '../../api/client.ts'
import type { SignatureAlgorithm } from '../../api/types.ts'
import { chosenScope, KeyNameField, ScopeFields } from '../../keys/key-fields.tsx'

const READ_ONLY = { access: 'read', envs: null } as const

/** Adds a trust rule to a project. */
export function AddTrustRule({ project, onClose }: { project: string; onClose: () => void }) {
  const queries = useQueryClient()
  const add = useMutation<unknown, ApiError, Values>({
    mutationFn: (values) =>
      read(
        api.POST('/v1/admin/projects/{id}/trust-rules', { params: { path: { id: project } }, body: bodyOf(values) }),
      ),
    onSuccess: async (_added, values) => {
      toast(`Trust rule ${values['name'] ?? ''} added.`)
      onClose()
      await queries.invalidateQueries()
    },
  })
  return (
    <FormDialog
      title={`Add a trust rule to ${project}`}
      action="Add trust rule"
      fields={['name', 'issuer', 'audience', 'claims', 'algorithms', 'access', 'envs', 'minutes']}
      error={add.error}
      isBusy={add.isPending}
      onSubmit={(values) => add.mutate(values)}
      onClose={onClose}
      intro={<p>Jobs and pods whose ID tokens have these claims can exchange them for short-lived keys.</p>}
    >
      <KeyNameField hint="The name of its keys, shown in the audit log. For example deploy." error={add.error} />
      <TextField
        label="Issuer"
        name="issuer"
        type="url"
        required
        maxLength={300}
        placeholder="https://token.actions.githubusercontent.com"
        autoComplete="off"
        spellCheck={false}
        hint="Exactly as in the iss claim of the tokens."
        error={add.error}
      />
      <TextArea
        label="Claims"
        name="claims"
        required
        rows={3}
        placeholder="sub=repo:octo-org/shop:ref:refs/heads/main"
        spellCheck={false}
        autoCapitalize="none"
        hint="One name=pattern per line; * stands for any characters. At least one must identify an owner, such as octo-org."
        error={add.error}
      />
      <TextField
        label="Audience"
        name="audience"
        required
        maxLength={300}
        defaultValue={window.location.origin}
        autoComplete="off"
        spellCheck={false}
        hint="The aud claim of the tokens. By default, the vault command requests the URL of the vault."
        error={add.error}
      />
      <TextField
        label="Signature algorithms"
        name="algorithms"
        required
        defaultValue="RS256, ES256"
        autoComplete="off"
        spellCheck={false}
        hint="Those of the issuer, separated by commas."
        error={add.error}
      />
      <ScopeFields scope={READ_ONLY} />
      <TextField
        label="Minutes"
        name="minutes"
        type="number"
        required
        min={1}
        max={60}
        defaultValue={15}
        hint="How long a key works, at most 60."
        error={add.error}
      />
    </FormDialog>
  )
}

function bodyOf(values: Values) {
  const lines = (values['claims'] ?? '').split('\n').flatMap((line) => line.trim() || [])
  const claims = lines.map((line): [string, string] => {
    const at = line.indexOf('=')
    return at === -1 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  return {
    name: values['name'] ?? '',
    issuer: (values['issuer'] ?? '').trim(),
    audience: (values['audience'] ?? '').trim(),
    // Checked by the vault.
    algorithms: (values['algorithms'] ?? '').split(',').map((name) => name.trim()) as SignatureAlgorithm[],
    claims: Object.fromEntries(claims),
    scope: chosenScope(values),
    minutes: Number(values['minutes']),
  }
}
