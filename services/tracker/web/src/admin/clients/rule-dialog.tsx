import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { SelectField, TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import type { ClientRule, Clients } from '../../api/client.ts'
import { changeRules, showChanged } from './queries.ts'
import { CONDITIONS, VERDICTS } from './rule-text.ts'

const FIELDS = ['verdict', 'prefix', 'condition', 'version']

/** Adds a rule that starts as the draft. */
export function RuleDialog(props: { draft: ClientRule; hasAllowRules: boolean; onClose: () => void }) {
  const { draft, hasAllowRules, onClose } = props
  const queries = useQueryClient()
  const [verdict, setVerdict] = useState<string>(draft.verdict)
  const [condition, setCondition] = useState<string>(draft.condition)
  const save = useMutation<Clients, ApiError, ClientRule>({
    mutationFn: (rule) => changeRules({ add: [rule] }),
    onSuccess: (changed) => {
      toast('Rule added.')
      showChanged(queries, changed)
      onClose()
    },
  })
  return (
    <FormDialog
      title="Add rule"
      action="Add rule"
      fields={FIELDS}
      error={save.error}
      isBusy={save.isPending}
      onSubmit={(values) => {
        const chosen = CONDITIONS.find(([each]) => each === values['condition'])?.[0] ?? 'any'
        save.mutate({
          verdict: values['verdict'] === 'allow' ? 'allow' : 'deny',
          prefix: values['prefix']?.trim() ?? '',
          condition: chosen,
          version: chosen === 'any' ? null : (values['version']?.trim() ?? ''),
        })
      }}
      onClose={onClose}
    >
      <SelectField
        label="Action"
        name="verdict"
        defaultValue={draft.verdict}
        onChange={({ target }) => setVerdict(target.value)}
        choices={VERDICTS}
        hint={verdict === 'allow' && !hasAllowRules ? 'The first allow rule refuses all other clients.' : undefined}
        error={save.error}
      />
      <TextField
        label="Start of the peer ID"
        name="prefix"
        defaultValue={draft.prefix}
        required
        maxLength={20}
        spellCheck={false}
        autoCapitalize="off"
        hint="Such as -qB for qBittorrent."
        error={save.error}
        data-focus=""
      />
      <SelectField
        label="Versions"
        name="condition"
        defaultValue={draft.condition}
        onChange={({ target }) => setCondition(target.value)}
        choices={CONDITIONS}
        error={save.error}
      />
      {condition !== 'any' && (
        <TextField
          label="Version"
          name="version"
          defaultValue={draft.version ?? ''}
          required
          pattern="\d{1,3}(\.\d{1,3}){0,4}"
          title="Numbers joined by dots"
          spellCheck={false}
          hint="Each digit of a peer ID is one number, so Transmission 2.94 is 2.9.4."
          error={save.error}
        />
      )}
    </FormDialog>
  )
}
