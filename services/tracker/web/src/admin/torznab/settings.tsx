import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api, type TorznabPreset, type TorznabSettings } from '../../api/client.ts'
import { consequencesOf } from './consequences.ts'
import { presets as presetsQuery, settings as settingsQuery } from './queries.ts'

const SWITCHES = [
  ['enabled', 'API enabled', 'If off, every request is refused with error 910.'],
  ['logging', 'Request logging', 'Statistics are counted either way.'],
] as const
const LIMITS = {
  windowSeconds: { label: 'Window in seconds', hint: '10–3,600.', min: 10, max: 3_600 },
  searchLimit: { label: 'Searches per window', hint: '1–10,000 per user.', min: 1, max: 10_000 },
  downloadLimit: { label: 'Downloads per window', hint: '1–10,000 per user.', min: 1, max: 10_000 },
} as const
type Limit = keyof typeof LIMITS
const NAMES = Object.keys(LIMITS) as readonly Limit[]

/** Numbers are texts while they are edited. */
type Draft = Pick<TorznabSettings, 'enabled' | 'logging'> & Readonly<Record<Limit, string>>

/** The settings of the API; the effect of a change is shown before it is saved. */
export function Settings() {
  const current = useQuery(settingsQuery)
  const presets = useQuery(presetsQuery)
  if (current.data === undefined || presets.data === undefined)
    return (
      <Pending
        error={current.error ?? presets.error}
        onRetry={() => void Promise.all([current.refetch(), presets.refetch()])}
        rows={8}
        label="Loading settings."
      />
    )
  return <SettingsForm now={current.data} presets={presets.data} />
}

function SettingsForm({ now, presets }: { now: TorznabSettings; presets: readonly TorznabPreset[] }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState(() => draftOf(now))
  const save = useMutation<TorznabSettings, ApiError, Partial<TorznabSettings>>({
    mutationFn: (body) => read(api.PATCH('/api/admin/torznab/settings', { body })),
    onSuccess: (saved) => {
      queries.setQueryData(settingsQuery.queryKey, saved)
      setDraft(draftOf(saved))
      toast('Saved.')
    },
  })
  const changes = changesOf(now, draft)
  const isChanged = Object.keys(changes).length > 0
  const consequences = consequencesOf(now, changes)
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
            <Button type="submit" kind="main" isBusy={save.isPending} disabled={!isChanged}>
              Save
            </Button>
            {isChanged && <Button onClick={() => setDraft(draftOf(now))}>Discard</Button>}
          </>
        }
      >
        {SWITCHES.map(([name, label, hint]) => (
          <div key={name}>
            <label className="switch">
              <input
                type="checkbox"
                checked={draft[name]}
                onChange={({ target }) => setDraft({ ...draft, [name]: target.checked })}
              />
              {label}
            </label>
            <p className="field-hint switch-hint">{hint}</p>
          </div>
        ))}
        <fieldset className="presets">
          <legend>Presets</legend>
          {presets.map((preset) => (
            <label key={preset.preset} className="preset">
              <input
                type="radio"
                name="preset"
                checked={NAMES.every((name) => draft[name] === String(preset[name]))}
                onChange={() => setDraft({ ...draft, ...limitsOf(preset) })}
              />
              <span className="preset-name">{preset.title}</span>
              <span className="muted">
                {preset.searchLimit} searches and {preset.downloadLimit} downloads in {preset.windowSeconds} s
              </span>
            </label>
          ))}
        </fieldset>
        <div className="field-row">
          {NAMES.map((name) => (
            <TextField
              key={name}
              {...LIMITS[name]}
              name={name}
              type="number"
              required
              value={draft[name]}
              onChange={({ target }) => setDraft({ ...draft, [name]: target.value })}
              error={save.error}
            />
          ))}
        </div>
        <div role="status">
          {consequences.length > 0 && (
            <div className="notice">
              <ul className="bullets">
                {consequences.map((sentence) => (
                  <li key={sentence}>{sentence}</li>
                ))}
              </ul>
            </div>
          )}
        </div>
      </Form>
    </div>
  )
}

function draftOf(settings: TorznabSettings): Draft {
  return { ...settings, ...limitsOf(settings) }
}

function limitsOf(limits: Readonly<Record<Limit, number>>): Readonly<Record<Limit, string>> {
  const { windowSeconds, searchLimit, downloadLimit } = limits
  return {
    windowSeconds: String(windowSeconds),
    searchLimit: String(searchLimit),
    downloadLimit: String(downloadLimit),
  }
}

/** Empty fields are left to the browser, which requires them before it sends the form. */
function changesOf(now: TorznabSettings, draft: Draft): Partial<TorznabSettings> {
  const limits = NAMES.filter((name) => draft[name] !== '' && Number(draft[name]) !== now[name])
  return {
    ...(draft.enabled !== now.enabled && { enabled: draft.enabled }),
    ...(draft.logging !== now.logging && { logging: draft.logging }),
    ...Object.fromEntries(limits.map((name) => [name, Number(draft[name])])),
  }
}
