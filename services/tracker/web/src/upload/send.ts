import { ApiError } from '@vault-and-tracker/web-kit/api'
import { account, type Torrent } from '../api/client.ts'

/**
 * Sends an upload with XMLHttpRequest, because only that reports progress.
 *
 * @param onProgress receives the sent part, 0 to 1
 * @throws ApiError
 */
export function sendUpload(form: FormData, onProgress: (part: number) => void): Promise<Torrent> {
  return new Promise((resolve, reject) => {
    account.require()
    const request = new XMLHttpRequest()
    request.open('POST', '/api/torrents')
    request.responseType = 'json'
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
    request.onerror = () =>
      reject(new ApiError({ status: 0, code: 'UNREACHABLE', message: 'Could not reach the server.' }))
    request.onload = () => {
      const { status } = request
      if (status === 201) {
        resolve(request.response as Torrent)
        return
      }
      const body = request.response as { error?: { code: string; message: string } } | null
      reject(new ApiError({ status, code: 'UNKNOWN', message: `The server returned ${status}.`, ...body?.error }))
    }
    request.send(form)
  })
}

/** A form without the empty fields. */
export function formOf(fields: Readonly<Record<string, string | File | undefined>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== '') form.set(name, value)
  return form
}
