import { useQuery } from '@tanstack/react-query'
import { ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending, Problem } from '@vault-and-tracker/web-kit/feedback'
import { Form, SelectField, TextArea, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { useEffect, useState } from 'react'
import { CategoryOptions } from '../api/category-options.tsx'
import { api, type TorrentPreview } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'
import { IDS, IdFields } from '../release/id-fields.tsx'
import { MarkFields } from '../release/mark-fields.tsx'
import { RelatedList } from '../release/related-list.tsx'
import { TEXTS, TextFields } from '../release/text-fields.tsx'
import { formOf } from './send.ts'
import { Understood } from './understood.tsx'

const FIELDS = ['name', 'category', 'description', 'duplicateReason', ...IDS, ...TEXTS] as const
/** The name is parsed again when typing pauses for this long. */
const PAUSE_MS = 300

type Props = {
  file: File
  error: ApiError | null
  isBusy: boolean
  /** The sent part, 0 to 1. */
  progress: number
  onSubmit: (fields: Values) => void
}

/** A preview of the torrent, and the fields to correct it. */
export function UploadForm({ file, error, isBusy, progress, onSubmit }: Props) {
  const [name, setName] = useState<string>()
  const [category, setCategory] = useState<string>()
  const [ids, setIds] = useState<Ids>({})
  const asked = useSettled(name)
  const askedIds = useSettled(ids)
  const { data: user } = useQuery(ownUser)
  const preview = useQuery({
    queryKey: ['upload', 'preview', file.name, file.size, file.lastModified, asked, category, askedIds],
    queryFn: ({ signal }) =>
      read(
        api.POST('/api/torrents/preview', {
          // The API document types the file as text; the form sends the file itself.
          body: { torrent: '' },
          bodySerializer: () => formOf({ torrent: file, name: asked, category, ...askedIds }),
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    // An aborted preview still occupies the server for a moment.
    retry: (failures, error) => failures < 3 && error instanceof ApiError && error.status === 429,
  })
  // The last preview stays while the next one loads or fails, because the fields below contain what was typed.
  const [understood, setUnderstood] = useState<TorrentPreview>()
  if (preview.data !== undefined && preview.data !== understood) setUnderstood(preview.data)
  const problem = preview.error && <FileProblem error={preview.error} onRetry={() => void preview.refetch()} />
  if (understood === undefined)
    return problem ?? <Pending error={null} onRetry={() => undefined} rows={6} label="Reading the file…" />
  return (
    <>
      <Understood preview={understood} isStale={preview.data === undefined} />
      {problem}
      <Verdict preview={understood} />
      {understood.verdict !== 'exists' && (
        <Form
          label="Upload"
          fields={FIELDS}
          error={error}
          isBusy={isBusy}
          onSubmit={onSubmit}
          submit="Upload torrent"
          actions={isBusy && <progress value={progress} aria-label="Upload progress" />}
        >
          <SelectField
            label="Category"
            name="category"
            required
            value={category ?? understood.proposedCategory ?? ''}
            onChange={({ target }) => setCategory(target.value)}
            hint="If you choose a main category, the tracker picks the subcategory from the name."
            error={error}
          >
            <option value="">Choose a category</option>
            <CategoryOptions />
          </SelectField>
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
          {(understood.verdict === 'duplicate' || error?.field === 'duplicateReason') && (
            <TextField
              label="Reason for a duplicate"
              name="duplicateReason"
              required
              maxLength={500}
              hint="Moderators see it."
              error={error}
            />
          )}
          <TextArea
            label="Description"
            name="description"
            maxLength={20_000}
            hint="Markdown. Images become links."
            error={error}
          />
          <IdFields error={error} onIds={(changed) => setIds((before) => ({ ...before, ...changed }))} />
          <TextFields error={error} />
          <MarkFields isStaff={user !== undefined && user.role !== 'member'} />
        </Form>
      )}
    </>
  )
}

/** What the catalogue says about the release, before anything is typed. */
function Verdict({ preview: { verdict, related } }: { preview: TorrentPreview }) {
  if (verdict === null && related.length === 0) return null
  return (
    <section className="verdict" aria-label="Related releases" data-verdict={verdict ?? 'new'} role="status">
      <p>{verdict === null ? 'This site has other versions of this title.' : VERDICTS[verdict]}</p>
      {related.length > 0 && <RelatedList related={related} />}
    </section>
  )
}

const VERDICTS: Readonly<Record<NonNullable<TorrentPreview['verdict']>, string>> = {
  exists: 'This site already has this torrent.',
  duplicate: 'This site already has this release in the same quality. To upload yours anyway, give a reason.',
  covered: 'A season pack on this site already contains this release.',
  replaces: 'Your release replaces an earlier one.',
}

/** Ids of complete fields, for the preview. */
type Ids = Readonly<Partial<Record<(typeof IDS)[number], string | undefined>>>

/** The API's messages for a file that is not a torrent. */
const NO_TORRENT: ReadonlySet<string> = new Set([
  'The file is not valid bencode.',
  'The file is not a dictionary.',
  'The file has no info dictionary.',
])

function FileProblem({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (!(error instanceof ApiError) || error.field !== 'torrent') return <Problem error={error} onRetry={onRetry} />
  return (
    <p className="form-problem" role="alert">
      {NO_TORRENT.has(error.sentence) ? 'This is not a .torrent file.' : `Could not read this file. ${error.sentence}`}
    </p>
  )
}

/** A value once it has stopped changing. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
