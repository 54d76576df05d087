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
        label="Loading settings…"
      />
    )
  return <SettingsForm now={current.data} presets={presets.data} />
}

function SettingsForm({ now, presets }: { now: TorznabSettings; presets: readonly TorznabPreset[] }) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState<Partial<TorznabSettings>>({})
  const save = useMutation<TorznabSettings, ApiError, TorznabSettings>({
    mutationFn: (body) => read(api.PATCH('/api/admin/torznab/settings', { body })),
    onSuccess: (saved) => {
      queries.setQueryData(settingsQuery.queryKey, saved)
      setDraft({})
      toast('Saved.')
    },
  })
  const shown = { ...now, ...draft }
  const isChanged = [...SWITCHES.map(([name]) => name), ...NAMES].some((name) => shown[name] !== now[name])
  const consequences = consequencesOf(now, shown)
  return (
    <div className="card narrow">
      <Form
        label="Settings of the Torznab API"
        fields={NAMES}
        error={save.error}
        isBusy={save.isPending}
        onSubmit={() => save.mutate(shown)}
        actions={
          <>
            <Button type="submit" kind="main" isBusy={save.isPending} disabled={!isChanged}>
              Save
            </Button>
            {isChanged && <Button onClick={() => setDraft({})}>Discard</Button>}
          </>
        }
      >
        {SWITCHES.map(([name, label, hint]) => (
          <div key={name}>
            <label className="switch">
              <input
                type="checkbox"
                checked={shown[name]}
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
                checked={NAMES.every((name) => shown[name] === preset[name])}
                onChange={() => {
                  const { windowSeconds, searchLimit, downloadLimit } = preset
                  setDraft({ ...draft, windowSeconds, searchLimit, downloadLimit })
                }}
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
              value={Number.isNaN(shown[name]) ? '' : shown[name]}
              onChange={({ target }) => setDraft({ ...draft, [name]: target.valueAsNumber })}
              error={save.error}
            />
          ))}
        </div>
        <div role="status">
          {consequences.length > 0 && (
            <ul className="notice bullets">
              {consequences.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          )}
        </div>
      </Form>
    </div>
  )
}
