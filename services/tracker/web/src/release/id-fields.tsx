import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { TextField } from '@vault-and-tracker/web-kit/form'
import type { Torrent } from '../api/client.ts'

/** The names of `IdFields`. */
export const IDS = ['imdb', 'tmdb', 'tvdb'] as const

/** What identifies the content in other catalogues. @param props `torrent` has the ids that stand there at first */
export function IdFields({ torrent, error }: { torrent?: Torrent; error: ApiError | null }) {
  return (
    <div className="field-row">
      <TextField
        label="IMDb"
        name="imdb"
        defaultValue={torrent?.imdb ?? ''}
        placeholder="tt0111161"
        pattern="(tt)?\d{1,10}"
        error={error}
      />
      <TextField
        label="TMDB"
        name="tmdb"
        defaultValue={torrent?.tmdb ?? ''}
        inputMode="numeric"
        pattern="\d{1,10}"
        error={error}
      />
      <TextField
        label="TVDB"
        name="tvdb"
        defaultValue={torrent?.tvdb ?? ''}
        inputMode="numeric"
        pattern="\d{1,10}"
        error={error}
      />
    </div>
  )
}
