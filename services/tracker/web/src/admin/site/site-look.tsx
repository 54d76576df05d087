import { read } from '@vault-and-tracker/web-kit/api'
import { toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { brand, showAccent, showBrand } from '@vault-and-tracker/web-kit/frame'
import { useEffect, useId, useState } from 'react'
import { api, type SiteSettings } from '../../api/client.ts'
import { saveSite, useSiteChange } from './queries.ts'

const DESIGNED = '#3b5bdb'
const ACCENTS = [
  [DESIGNED, 'Indigo'],
  ['#0f7bb8', 'Blue'],
  ['#0c8577', 'Teal'],
  ['#2f8a3d', 'Green'],
  ['#b7791f', 'Amber'],
  ['#c2501c', 'Orange'],
  ['#c2255c', 'Rose'],
  ['#8e44ad', 'Violet'],
  ['#52606d', 'Slate'],
] as const

/** The name, the accent colour and the logo. A colour is shown on the page before it is saved. */
export function SiteLook({ settings }: { settings: SiteSettings }) {
  const [accent, setAccent] = useState(settings.accent ?? DESIGNED)
  const save = useSiteChange(saveSite, showLook)
  useEffect(() => {
    showAccent(accent)
    return () => showAccent(settings.accent ?? DESIGNED)
  }, [accent, settings.accent])
  return (
    <section aria-labelledby="look" className="card">
      <h2 id="look">Appearance</h2>
      <Form
        label="Appearance"
        fields={['name']}
        error={save.error}
        isBusy={save.isPending}
        submit="Save appearance"
        onSubmit={({ name = '' }) =>
          save.mutate({ name: name.trim() || null, accent: accent === DESIGNED ? null : accent })
        }
      >
        <TextField
          label="Name"
          name="name"
          maxLength={64}
          autoComplete="off"
          defaultValue={settings.name ?? ''}
          placeholder={settings.defaults.name ?? 'Tracker'}
          hint="Shown in the navigation bar, in page titles and in automation tools."
          error={save.error}
        />
        <AccentField value={accent} onChange={setAccent} />
      </Form>
      <LogoField settings={settings} />
    </section>
  )
}

function AccentField({ value, onChange }: { value: string; onChange: (accent: string) => void }) {
  return (
    <fieldset className="accents">
      <legend>Accent colour</legend>
      <div className="accent-list">
        {ACCENTS.map(([colour, name]) => (
          <label key={colour} className="accent" title={name}>
            <input
              type="radio"
              name="accent"
              aria-label={name}
              checked={value === colour}
              onChange={() => onChange(colour)}
            />
            <span style={{ background: colour }} />
          </label>
        ))}
        <label className="accent-own">
          Custom colour
          <input type="color" value={value} onChange={({ target }) => onChange(target.value.toLowerCase())} />
        </label>
      </div>
      <p className="field-hint">
        Links and buttons use a darker or lighter tone of it, so that they are readable in both themes.
      </p>
    </fieldset>
  )
}

function LogoField({ settings }: { settings: SiteSettings }) {
  const id = useId()
  const change = useSiteChange(storeLogo, showLook)
  return (
    <div className="field">
      <label htmlFor={id}>Logo</label>
      <div className="logo-field">
        <img className="brand-mark" src={settings.logo ?? brand().read().mark} alt="" />
        <input
          id={id}
          type="file"
          accept="image/png"
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => {
            const [file] = target.files ?? []
            if (file === undefined) return
            if (file.size > MAX_BYTES) toast('The file is larger than 64 KiB. Choose a smaller one.', 'bad')
            else change.mutate(file, { onError: toastProblem })
            target.value = ''
          }}
        />
        {settings.logo !== null && (
          <Button isBusy={change.isPending} onClick={() => change.mutate(null, { onError: toastProblem })}>
            Remove logo
          </Button>
        )}
      </div>
      <p className="field-hint" id={`${id}-hint`}>
        A square PNG file of 16 to 512 pixels, at most 64 KiB. It is also the icon of the site.
      </p>
    </div>
  )
}

const MAX_BYTES = 64 * 1024

/** @param file null to return to the designed mark */
async function storeLogo(file: File | null): Promise<SiteSettings> {
  if (file === null) return read(api.DELETE('/api/admin/site/logo'))
  return read(api.PUT('/api/admin/site/logo', { body: { png: await base64Of(file) } }))
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** Shows a saved look in this tab. Other pages have it when they load. */
function showLook({ name, logo, accent, defaults }: SiteSettings): void {
  showBrand({
    name: name ?? defaults.name ?? 'Tracker',
    mark: logo ?? (accent === null ? '/icon.svg' : `/icon-${accent.slice(1)}.svg`),
  })
}
