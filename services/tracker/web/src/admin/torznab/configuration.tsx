import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, type TorznabPreset, type TorznabSettings } from '../../api/client.ts'
import { consequencesOf } from './consequences.ts'
import { presets, settings } from './queries.ts'

/** What of the settings differs. */
type Changes = Partial<TorznabSettings>
type Draft = Pick<TorznabSettings, 'enabled' | 'logging'> & Record<keyof typeof LIMITS, string>

const LIMITS = {
  windowSeconds: { label: 'Window in seconds', hint: 'From 10 to 3600.', min: 10, max: 3_600 },
  searchLimit: { label: 'Searches in a window', hint: 'Of each user, 1 to 10,000.', min: 1, max: 10_000 },
  downloadLimit: { label: 'Downloads in a window', hint: 'Of each user, 1 to 10,000.', min: 1, max: 10_000 },
} as const
const NAMES = Object.keys(LIMITS) as readonly (keyof typeof LIMITS)[]

/** The switches and limits of the API; what a change does is said before it is saved. */
export function Configuration() {
  const current = useQuery(settings)
  const named = useQuery(presets)
  const error = current.error ?? named.error
  if (current.data === undefined || named.data === undefined)
    return (
      <Pending
        error={error}
        onRetry={() => void Promise.all([current.refetch(), named.refetch()])}
        rows={8}
        label="The settings are loading."
      />
    )
  return <Editor settings={current.data} presets={named.data} />
}

function Editor({ settings: now, presets: named }: { settings: TorznabSettings; presets: readonly TorznabPreset[] }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState(() => draftOf(now))
  const save = useMutation<TorznabSettings, ApiError, Changes>({
    mutationFn: (body) => read(api.PATCH('/api/admin/torznab/settings', { body })),
    onSuccess: (saved) => {
      queries.setQueryData(settings.queryKey, saved)
      setDraft(draftOf(saved))
      toast('Saved. All processes go by it within a second.')
    },
  })
  const changes = changesOf(now, draft)
  const change = (part: Partial<Draft>): void => setDraft({ ...draft, ...part })
  return (
    <div className="narrow">
      <Form
        label="Settings of the Torznab API"
        fields={NAMES}
        error={save.error}
        isBusy={save.isPending}
        onSubmit={() => save.mutate(changes)}
        actions={
          <>
            <Button type="submit" kind="main" isBusy={save.isPending} disabled={Object.keys(changes).length === 0}>
              Save
            </Button>
            {Object.keys(changes).length > 0 && <Button onClick={() => setDraft(draftOf(now))}>Discard</Button>}
          </>
        }
      >
        <Switch
          label="The API answers"
          isOn={draft.enabled}
          onChange={(enabled) => change({ enabled })}
          hint="Off, every request is refused with error 910."
        />
        <Switch
          label="Requests are logged"
          isOn={draft.logging}
          onChange={(logging) => change({ logging })}
          hint="Statistics and counts are kept either way."
        />
        <Presets presets={named} draft={draft} now={now} onChoose={(preset) => change(limitsOf(preset))} />
        <div className="field-row">
          {NAMES.map((name) => (
            <TextField
              key={name}
              {...LIMITS[name]}
              name={name}
              type="number"
              required
              value={draft[name]}
              onChange={({ target }) => change({ [name]: target.value })}
              error={save.error}
            />
          ))}
        </div>
        <Consequences now={now} changes={changes} />
      </Form>
    </div>
  )
}

function Switch(props: { label: string; isOn: boolean; hint: string; onChange: (isOn: boolean) => void }) {
  return (
    <div>
      <label className="switch">
        <input type="checkbox" checked={props.isOn} onChange={({ target }) => props.onChange(target.checked)} />
        {props.label}
      </label>
      <p className="field-hint switch-hint">{props.hint}</p>
    </div>
  )
}

/** Limits under a name, with what each would change. Choosing one fills in the fields; nothing is saved by that. */
function Presets(props: {
  presets: readonly TorznabPreset[]
  draft: Draft
  now: TorznabSettings
  onChoose: (preset: TorznabPreset) => void
}) {
  const { presets: named, draft, now, onChoose } = props
  return (
    <fieldset className="presets">
      <legend>Presets</legend>
      {named.map((preset) => (
        <label key={preset.preset} className="preset">
          <input
            type="radio"
            name="preset"
            checked={NAMES.every((name) => draft[name] === String(preset[name]))}
            onChange={() => onChoose(preset)}
          />
          <span className="preset-name">{preset.title}</span>
          <span className="muted">
            {preset.searchLimit} searches, {preset.downloadLimit} downloads in {preset.windowSeconds} s
          </span>
          <span className="preset-change">{differenceOf(now, preset)}</span>
        </label>
      ))}
    </fieldset>
  )
}

function differenceOf(now: TorznabSettings, preset: TorznabPreset): string {
  const parts = [
    preset.searchLimit !== now.searchLimit && `searches ${now.searchLimit} → ${preset.searchLimit}`,
    preset.downloadLimit !== now.downloadLimit && `downloads ${now.downloadLimit} → ${preset.downloadLimit}`,
    preset.windowSeconds !== now.windowSeconds && `window ${now.windowSeconds} s → ${preset.windowSeconds} s`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'as it is now' : parts.join(', ')
}

function Consequences({ now, changes }: { now: TorznabSettings; changes: Changes }) {
  const sentences = consequencesOf(now, changes)
  return (
    <div role="status">
      {sentences.length > 0 && (
        <div className="notice">
          <p>When this is saved:</p>
          <ul className="bullets">
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}

function draftOf({ enabled, logging, ...limits }: TorznabSettings): Draft {
  return { enabled, logging, ...limitsOf(limits) }
}

function limitsOf(limits: Pick<TorznabSettings, keyof typeof LIMITS>): Record<keyof typeof LIMITS, string> {
  const { windowSeconds, searchLimit, downloadLimit } = limits
  return {
    windowSeconds: String(windowSeconds),
    searchLimit: String(searchLimit),
    downloadLimit: String(downloadLimit),
  }
}

/** Fields that were emptied are left to the browser, which asks for them before it sends. */
function changesOf(now: TorznabSettings, draft: Draft): Changes {
  const { enabled, logging } = draft
  const limits = NAMES.filter((name) => draft[name] !== '' && Number(draft[name]) !== now[name])
  return {
    ...(enabled !== now.enabled && { enabled }),
    ...(logging !== now.logging && { logging }),
    ...Object.fromEntries(limits.map((name) => [name, Number(draft[name])])),
  }
}
