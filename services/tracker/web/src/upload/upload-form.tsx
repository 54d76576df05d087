import { useQuery } from '@tanstack/react-query'
import { ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending, Problem } from '@vault-and-tracker/web-kit/feedback'
import { Button, Field, Form, TextArea, TextField } from '@vault-and-tracker/web-kit/form'
import { useEffect, useState } from 'react'
import { CategoryOptions } from '../api/category-options.tsx'
import { api, type TorrentPreview } from '../api/client.ts'
import { IDS, IdFields } from '../release/id-fields.tsx'
import { formOf } from './send.ts'
import { Understood } from './understood.tsx'

const FIELDS = ['name', 'category', 'description', ...IDS] as const
/** A name that is being typed is read again after a pause of this length. */
const PAUSE_MS = 300

type Props = {
  file: File
  error: ApiError | null
  isBusy: boolean
  /** The part that was sent, 0 to 1. */
  progress: number
  onSubmit: (fields: Readonly<Record<string, string>>) => void
}

/** What the file would become, and the fields to correct it. */
export function UploadForm({ file, error, isBusy, progress, onSubmit }: Props) {
  const [name, setName] = useState<string>()
  const [category, setCategory] = useState('')
  const asked = useSettled(name)
  const preview = useQuery({
    queryKey: ['upload', 'preview', file.name, file.size, file.lastModified, asked, category],
    queryFn: ({ signal }) =>
      read(
        api.POST('/api/torrents/preview', {
          // The document describes the file as text; a form carries it as it is.
          body: { torrent: '', category },
          bodySerializer: () => formOf({ torrent: file, name: asked, category }),
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    // A preview that was given up is read to its end before the next one has its turn.
    retry: (failures, error) => failures < 3 && error instanceof ApiError && error.status === 429,
  })
  // What was understood last stays while another name is read, and when that fails: the fields below hold what was typed.
  const [understood, setUnderstood] = useState<TorrentPreview>()
  if (preview.data !== undefined && preview.data !== understood) setUnderstood(preview.data)
  const problem = preview.error && <FileProblem error={preview.error} onRetry={() => void preview.refetch()} />
  if (understood === undefined)
    return problem ?? <Pending error={null} onRetry={() => undefined} rows={6} label="The file is being read." />
  return (
    <>
      <Understood preview={understood} isStale={preview.data === undefined} />
      {problem}
      <Form
        label="Upload"
        fields={FIELDS}
        error={error}
        isBusy={isBusy}
        onSubmit={onSubmit}
        actions={
          <>
            <Button type="submit" kind="main" isBusy={isBusy}>
              Upload
            </Button>
            {isBusy && <progress value={progress} aria-label="Sent" />}
          </>
        }
      >
        <Field
          label="Category"
          name="category"
          error={error}
          hint="In a main category, the name decides on the subcategory."
        >
          {(attributes) => (
            <select
              {...attributes}
              className="input"
              required
              value={category}
              onChange={({ target }) => setCategory(target.value)}
            >
              <option value="">Choose one</option>
              <CategoryOptions />
            </select>
          )}
        </Field>
        <TextField
          label="Name"
          name="name"
          value={name ?? understood.name}
          onChange={({ target }) => setName(target.value)}
          required
          maxLength={255}
          spellCheck={false}
          error={error}
        />
        <TextArea label="Description" name="description" maxLength={20_000} error={error} />
        <IdFields error={error} />
      </Form>
    </>
  )
}

/** How the API calls what is something else than a torrent. */
const NO_TORRENT: ReadonlySet<string> = new Set([
  'The file is not valid bencode.',
  'The file is not a dictionary.',
  'The file has no info dictionary.',
])

/** A torrent that is not accepted is answered in the words of the API. */
function FileProblem({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (!(error instanceof ApiError) || error.field !== 'torrent') return <Problem error={error} onRetry={onRetry} />
  return (
    <p className="form-problem" role="alert">
      {NO_TORRENT.has(error.sentence)
        ? 'This is not a .torrent file.'
        : `This file cannot be uploaded. ${error.sentence}`}
    </p>
  )
}

/** A value that has not changed for a moment. */
function useSettled(value: string | undefined): string | undefined {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
