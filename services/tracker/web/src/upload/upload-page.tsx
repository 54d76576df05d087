import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { useState } from 'react'
import type { Torrent } from '../api/client.ts'
import { DropZone } from './drop-zone.tsx'
import { formOf, sendUpload } from './send.ts'
import { UploadDone } from './upload-done.tsx'
import { UploadForm } from './upload-form.tsx'

/** Choose a file, see what it would become, correct it, send it, seed our copy. */
export function UploadPage() {
  const queries = useQueryClient()
  const [file, setFile] = useState<File>()
  const [progress, setProgress] = useState(0)
  usePageTitle('Upload')
  const upload = useMutation<Torrent, ApiError, Readonly<Record<string, string>>>({
    mutationFn: (fields) => {
      setProgress(0)
      return sendUpload(formOf({ ...fields, torrent: file }), setProgress)
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['torrents', 'list'] }),
  })
  const startOver = (): void => {
    setFile(undefined)
    upload.reset()
  }
  if (upload.data) return <UploadDone torrent={upload.data} onAnother={startOver} />
  return (
    <div className="narrow">
      <h1>Upload a torrent</h1>
      <DropZone
        file={file}
        onFile={(chosen) => {
          setFile(chosen)
          upload.reset()
        }}
      />
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
