import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Discard } from '@vault-and-tracker/web-kit/feedback'
import { hasTypedText, type Values } from '@vault-and-tracker/web-kit/form'
import { PageHead } from '@vault-and-tracker/web-kit/frame'
import { useState } from 'react'
import type { Torrent } from '../api/client.ts'
import { DropZone } from './drop-zone.tsx'
import { formOf, sendUpload } from './send.ts'
import { UploadDone } from './upload-done.tsx'
import { UploadForm } from './upload-form.tsx'

/** Choose a file, correct its preview, upload it, and seed the tracker's copy. */
export function UploadPage() {
  const queries = useQueryClient()
  const [file, setFile] = useState<File>()
  /** Chosen while the form has text for the current file. */
  const [other, setOther] = useState<File>()
  const [progress, setProgress] = useState(0)
  const upload = useMutation<Torrent, ApiError, Values>({
    mutationFn: (fields) => {
      setProgress(0)
      return sendUpload(formOf({ ...fields, torrent: file, refuseDuplicate: 'true' }), setProgress)
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['torrents', 'list'] }),
  })
  const start = (chosen: File | undefined): void => {
    setFile(chosen)
    setOther(undefined)
    upload.reset()
  }
  const take = (chosen: File): void => {
    if (hasTypedText()) setOther(chosen)
    else start(chosen)
  }
  if (upload.data) return <UploadDone torrent={upload.data} onAnother={() => start(undefined)} />
  return (
    <div className="narrow">
      <PageHead title="Upload torrent" />
      <DropZone file={file} onFile={take} />
      {other && <Discard onDiscard={() => start(other)} onKeep={() => setOther(undefined)} />}
      {file && (
        <UploadForm
          key={`${file.name} ${file.lastModified} ${file.size}`}
          file={file}
          error={upload.error}
          isBusy={upload.isPending}
          progress={progress}
          onSubmit={upload.mutate}
        />
      )}
    </div>
  )
}
