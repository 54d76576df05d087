import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { SelectField, TextArea, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { useId, useState } from 'react'
import { api, read } from '../api/client.ts'
import { changedDetails, DETAIL_FIELDS, DetailFields, type Details } from './details.tsx'

/** A secret by its place. */
export type Place = Details & { readonly key: string; readonly env: string; readonly references?: true }

const CHARSETS = [
  ['alphanumeric', 'Letters and digits'],
  ['hex', 'Hex digits'],
  ['base64url', 'base64url'],
  ['ascii-printable', 'Letters, digits and symbols'],
] as const

type Stored = Place & { readonly version: number; readonly isGenerated: boolean }

/**
 * Adds a secret, or replaces the value of one. The value stays in its field: no state, no query and no storage of the
 * browser has it, and it is never shown after it was sent.
 *
 * @param props `replaced` is the secret to replace; `known` are those of the project, `env` the initial environment
 */
export function StoreSecret(props: {
  project: string
  replaced?: Place | undefined
  known?: readonly Place[]
  env?: string | undefined
  onClose: () => void
}) {
  const { project, replaced, known = [], onClose } = props
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [env, setEnv] = useState(props.env ?? 'production')
  const [isGenerated, setGenerated] = useState(false)
  const [isShown, setShown] = useState(false)
  const [chosenRefers, setRefers] = useState<boolean>()
  const envs = useId()
  const overwritten = replaced ?? known.find((each) => each.key === name && each.env === env)
  const refers = chosenRefers ?? overwritten?.references === true
  const store = useMutation<Stored, ApiError, Values>({
    mutationFn: async (values) => {
      const place = { key: replaced?.key ?? values['key'] ?? '', env: replaced?.env ?? values['env'] ?? '' }
      const generate = { length: Number(values['length']), charset: values['charset'] ?? '' }
      const { version } = await read(
        api.PUT('/v1/admin/projects/{id}/secrets', {
          params: { path: { id: project } },
          body: {
            ...place,
            ...(isGenerated ? { generate } : { value: values['value'] ?? '', references: refers }),
            ...changedDetails(values, replaced),
          },
        }),
      )
      return { ...place, version, isGenerated }
    },
    onSuccess: async (stored) => {
      const verb = stored.isGenerated ? 'generated' : 'stored'
      toast(`${stored.key} ${verb} in ${stored.env} as version ${stored.version}.`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['secrets', project] })
      await queries.invalidateQueries({ queryKey: ['expiring'] })
    },
    // Keeps the value out of the cache.
    gcTime: 0,
  })
  const action = overwritten === undefined ? 'Add secret' : 'Replace value'
  return (
    <FormDialog
      title={replaced === undefined ? 'Add secret' : `Replace the value of ${replaced.key}`}
      action={action}
      kind={overwritten === undefined ? 'main' : 'danger'}
      fields={['key', 'env', 'value', 'generate.length', ...DETAIL_FIELDS]}
      error={store.error}
      isBusy={store.isPending}
      onSubmit={(values) => store.mutate(values)}
      onClose={onClose}
    >
      {replaced === undefined && (
        <div className="field-row">
          <TextField
            label="Name"
            name="key"
            required
            maxLength={256}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            data-focus=""
            onChange={({ target }) => setName(target.value)}
            error={store.error}
          />
          <TextField
            label="Environment"
            name="env"
            required
            defaultValue={env}
            list={envs}
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}"
            title="Up to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            onChange={({ target }) => setEnv(target.value)}
            error={store.error}
          />
          <datalist id={envs}>
            {[...new Set(known.map((each) => each.env))].map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </div>
      )}
      {overwritten !== undefined && (
        <div className="notice" role="status">
          <p>
            This overwrites <code>{overwritten.key}</code> in {overwritten.env} of project {project}. Applications
            receive the new value at their next fetch. The current value stays as a version that can be restored.
          </p>
        </div>
      )}
      <fieldset className="choices">
        <legend>Value</legend>
        <label className="switch">
          <input type="radio" name="source" checked={!isGenerated} onChange={() => setGenerated(false)} />
          Enter a value
        </label>
        <label className="switch">
          <input type="radio" name="source" checked={isGenerated} onChange={() => setGenerated(true)} />
          Generate a value, which is never shown
        </label>
      </fieldset>
      {isGenerated ? (
        <div className="field-row">
          <TextField
            label="Characters"
            name="length"
            type="number"
            required
            min={8}
            max={4096}
            defaultValue={32}
            error={store.error}
          />
          <SelectField label="Character set" name="charset" choices={CHARSETS} />
        </div>
      ) : (
        <>
          <TextArea
            label="New value"
            name="value"
            rows={3}
            required
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            data-masked={!isShown}
            error={store.error}
          />
          <label className="switch">
            <input type="checkbox" checked={isShown} onChange={() => setShown(!isShown)} />
            Show the value while typing
          </label>
          <label className="switch">
            <input type="checkbox" checked={refers} onChange={() => setRefers(!refers)} />
            Resolve references such as <code>{'${KEY}'}</code> in the value
          </label>
        </>
      )}
      <DetailFields current={replaced ?? {}} error={store.error} />
    </FormDialog>
  )
}
