import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { TextField } from '@vault-and-tracker/web-kit/form'
import type { ComponentProps } from 'react'
import type { Torrent } from '../api/client.ts'
import { pastedId } from './pasted-id.ts'

/** The names of the fields in `IdFields`. */
export const IDS = ['imdb', 'tmdb', 'tvdb'] as const

const NUMBER = { inputMode: 'numeric', pattern: '\\d{1,10}' } as const

/** The ids of the content in other catalogues. `torrent` has the initial ones. */
export function IdFields(props: {
  torrent?: Torrent
  error: ApiError | null
  /** Receives an id that was typed; undefined for none. */
  onIds?: (changed: Partial<Record<(typeof IDS)[number], string | undefined>>) => void
}) {
  const { torrent, error, onIds } = props
  const fieldOf = (name: (typeof IDS)[number]) => ({
    ...{ name, error, defaultValue: torrent?.[name] ?? '', autoComplete: 'off' },
    onChange: (({ target }) => {
      const id = pastedId(name, target.value)
      if (id !== target.value) target.value = id
      onIds?.({ [name]: target.validity.valid && id !== '' ? id : undefined })
    }) satisfies ComponentProps<'input'>['onChange'],
  })
  return (
    <div className="field-row">
      <TextField
        {...fieldOf('imdb')}
        label="IMDb"
        placeholder="tt0111161"
        pattern="(tt)?\d{1,10}"
        title="The ID, such as tt0111161, or the URL of the page on imdb.com"
      />
      <TextField
        {...fieldOf('tmdb')}
        {...NUMBER}
        label="TMDB"
        title="The number of the film or series, or the URL of its page on themoviedb.org"
      />
      <TextField
        {...fieldOf('tvdb')}
        {...NUMBER}
        label="TVDB"
        title="The number that thetvdb.com shows as TheTVDB.com Series ID"
      />
    </div>
  )
}
