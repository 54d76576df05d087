import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { type ReactNode, useState } from 'react'
import type { Rates } from './rates.ts'

const PRESETS = [
  ['Normal', 100, 100],
  ['Freeleech', 0, 100],
  ['Half download', 50, 100],
  ['Double upload', 100, 200],
] as const

const FIELDS = {
  downloadPercent: { label: 'Download rate, %', min: 0, max: 100, hint: '0 is freeleech, 100 is normal.' },
  uploadPercent: { label: 'Upload rate, %', min: 100, max: 1_000, hint: '100 is normal, 200 is double upload.' },
} as const
const NAMES = ['downloadPercent', 'uploadPercent'] as const

/** Both rates, as fields. A preset fills them in. */
export function RateFields({ rates, error }: { rates: Rates; error: ApiError | null }) {
  const [draft, setDraft] = useState({
    downloadPercent: String(rates.downloadPercent),
    uploadPercent: String(rates.uploadPercent),
  })
  return (
    <>
      <div className="form-actions" role="group" aria-label="Presets">
        {PRESETS.map(([name, download, upload]) => (
          <Button
            key={name}
            className="small"
            aria-pressed={draft.downloadPercent === String(download) && draft.uploadPercent === String(upload)}
            onClick={() => setDraft({ downloadPercent: String(download), uploadPercent: String(upload) })}
          >
            {name}
          </Button>
        ))}
      </div>
      <div className="field-row">
        {NAMES.map((name) => (
          <TextField
            key={name}
            {...FIELDS[name]}
            name={name}
            type="number"
            required
            value={draft[name]}
            onChange={({ target }) => setDraft({ ...draft, [name]: target.value })}
            error={error}
          />
        ))}
      </div>
    </>
  )
}

export function RatesForm(props: {
  label: string
  rates: Rates
  error: ApiError | null
  isBusy: boolean
  onSave: (rates: Rates) => void
  actions?: ReactNode
}) {
  const { rates, onSave, ...form } = props
  return (
    <Form
      {...form}
      fields={NAMES}
      submit="Save rates"
      onSubmit={({ downloadPercent, uploadPercent }) =>
        onSave({ downloadPercent: Number(downloadPercent), uploadPercent: Number(uploadPercent) })
      }
    >
      <RateFields rates={rates} error={form.error} />
    </Form>
  )
}
