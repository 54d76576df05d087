import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { TextField } from '@vault-and-tracker/web-kit/form'
import type { ComponentProps } from 'react'
import type { Torrent } from '../api/client.ts'
import { pastedId } from './pasted-id.ts'

/** The names of `IdFields`. */
export const IDS = ['imdb', 'tmdb', 'tvdb'] as const

const NUMBER = { inputMode: 'numeric', pattern: '\\d{1,10}' } as const

/** What identifies the content in other catalogues. @param props `torrent` has the ids that stand there at first */
export function IdFields({ torrent, error }: { torrent?: Torrent; error: ApiError | null }) {
  const fieldOf = (name: (typeof IDS)[number]) => ({
    ...{ name, error, defaultValue: torrent?.[name] ?? '', autoComplete: 'off' },
    onChange: (({ target }) => {
      const id = pastedId(name, target.value)
      if (id !== target.value) target.value = id
    }) satisfies ComponentProps<'input'>['onChange'],
  })
  return (
    <div className="field-row">
      <TextField
        {...fieldOf('imdb')}
        label="IMDb"
        placeholder="tt0111161"
        pattern="(tt)?\d{1,10}"
        title="The id, such as tt0111161, or the address of the page at imdb.com"
      />
      <TextField
        {...fieldOf('tmdb')}
        {...NUMBER}
        label="TMDB"
        title="The number of the film or series, or the address of its page at themoviedb.org"
      />
      <TextField
        {...fieldOf('tvdb')}
        {...NUMBER}
        label="TVDB"
        title="The number that the page at thetvdb.com calls TheTVDB.com Series ID"
      />
    </div>
  )
}
