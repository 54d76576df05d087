import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { type ReactNode, useState } from 'react'

/** How much of downloads is charged and of uploads credited, in per cent. */
export type Factors = { readonly downloadPercent: number; readonly uploadPercent: number }

const NAMED = [
  ['Normal', { downloadPercent: 100, uploadPercent: 100 }],
  ['Freeleech', { downloadPercent: 0, uploadPercent: 100 }],
  ['Half download', { downloadPercent: 50, uploadPercent: 100 }],
  ['Double upload', { downloadPercent: 100, uploadPercent: 200 }],
] as const satisfies readonly (readonly [string, Factors])[]

const FIELDS = {
  downloadPercent: { label: 'Downloads are charged, %', min: 0, max: 100, hint: '0 is freeleech, 100 is normal.' },
  uploadPercent: {
    label: 'Uploads are credited, %',
    min: 100,
    max: 1_000,
    hint: '100 is normal, 200 is double upload.',
  },
} as const
const NAMES = ['downloadPercent', 'uploadPercent'] as const

/** The fields that set both; a name fills them in, and nothing is saved by that. */
export function FactorFields({ factors, error }: { factors: Factors; error: ApiError | null }) {
  const [draft, setDraft] = useState({
    downloadPercent: String(factors.downloadPercent),
    uploadPercent: String(factors.uploadPercent),
  })
  return (
    <>
      <div className="form-actions" role="group" aria-label="Percentages by name">
        {NAMED.map(([name, { downloadPercent, uploadPercent }]) => (
          <Button
            key={name}
            className="small"
            aria-pressed={
              draft.downloadPercent === String(downloadPercent) && draft.uploadPercent === String(uploadPercent)
            }
            onClick={() => setDraft({ downloadPercent: String(downloadPercent), uploadPercent: String(uploadPercent) })}
          >
            {name}
          </Button>
        ))}
      </div>
      <div className="field-row two">
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

/** A form of both. */
export function FactorsForm(props: {
  label: string
  factors: Factors
  error: ApiError | null
  isBusy: boolean
  onSave: (factors: Factors) => void
  /** Beside the button that saves. */
  actions?: ReactNode
}) {
  const { label, factors, error, isBusy, onSave, actions } = props
  return (
    <Form
      label={label}
      fields={NAMES}
      error={error}
      isBusy={isBusy}
      onSubmit={({ downloadPercent, uploadPercent }) =>
        onSave({ downloadPercent: Number(downloadPercent), uploadPercent: Number(uploadPercent) })
      }
      actions={
        <>
          <Button type="submit" kind="main" isBusy={isBusy}>
            Save
          </Button>
          {actions}
        </>
      }
    >
      <FactorFields factors={factors} error={error} />
    </Form>
  )
}
