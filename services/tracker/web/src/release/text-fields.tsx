import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { TextArea } from '@vault-and-tracker/web-kit/form'
import { useId, useState } from 'react'

/** The names of the fields in `TextFields`. */
export const TEXTS = ['nfo', 'mediaInfo'] as const

/** As in the API. */
const MAX_NFO_BYTES = 48 * 1024
const MAX_MEDIA_INFO = 60_000

/** An NFO file and the text of MediaInfo. */
export function TextFields({ error, replaces = false }: { error: ApiError | null; replaces?: boolean }) {
  return (
    <>
      <NfoField error={error} replaces={replaces} />
      <TextArea
        label={replaces ? 'New MediaInfo' : 'MediaInfo'}
        name="mediaInfo"
        maxLength={MAX_MEDIA_INFO}
        spellCheck={false}
        rows={4}
        hint="The text output of MediaInfo. Folder names are removed."
        error={error}
      />
    </>
  )
}

/** The form sends the file as base64, because its encoding is only known to the server. */
function NfoField({ error, replaces }: { error: ApiError | null; replaces: boolean }) {
  const id = useId()
  const [encoded, setEncoded] = useState('')
  const [isTooLarge, setTooLarge] = useState(false)
  const read = async (file: File | undefined): Promise<void> => {
    const isLarge = file !== undefined && file.size > MAX_NFO_BYTES
    setTooLarge(isLarge)
    setEncoded(file === undefined || isLarge ? '' : toBase64(new Uint8Array(await file.arrayBuffer())))
  }
  const problem = isTooLarge
    ? `This file is larger than ${MAX_NFO_BYTES / 1024} KiB and will not be sent.`
    : error?.field === 'nfo' && error.sentence
  return (
    <div className="field">
      <label htmlFor={id}>{replaces ? 'New NFO file' : 'NFO file'}</label>
      <input
        id={id}
        type="file"
        className="input"
        accept=".nfo,.txt,text/plain"
        aria-describedby={problem ? `${id}-problem` : undefined}
        aria-invalid={problem ? true : undefined}
        onChange={({ target }) => void read(target.files?.[0])}
      />
      <input type="hidden" name="nfo" value={encoded} />
      {problem && (
        <p className="field-problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
