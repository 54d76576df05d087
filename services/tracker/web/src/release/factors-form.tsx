import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import type { ReactNode } from 'react'

/** How much of downloads is charged and of uploads credited, in per cent. */
export type Factors = { readonly downloadPercent: number; readonly uploadPercent: number }

/** The fields that set both. */
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
      fields={['downloadPercent', 'uploadPercent']}
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
      <div className="field-row two">
        <TextField
          label="Downloads are charged, %"
          name="downloadPercent"
          type="number"
          min={0}
          max={100}
          required
          defaultValue={factors.downloadPercent}
          hint="0 is freeleech, 100 is normal."
          error={error}
          data-focus=""
        />
        <TextField
          label="Uploads are credited, %"
          name="uploadPercent"
          type="number"
          min={100}
          max={1_000}
          required
          defaultValue={factors.uploadPercent}
          hint="100 is normal, 200 is double upload."
          error={error}
        />
      </div>
    </Form>
  )
}
