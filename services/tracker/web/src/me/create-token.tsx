import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, SecretOffer } from '@vault-and-tracker/web-kit/feedback'
import { TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { type ApiToken, api } from '../api/client.ts'
import { OwnPassword } from '../standing/own-password.tsx'

type Scope = ApiToken['scopes'][number]

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['torznab', 'Search with Torznab, and read feeds of your saved searches and bookmarks.'],
  ['download', 'Download .torrent files, which announce as you until the token expires or is revoked.'],
  ['upload', 'Upload torrents in your name.'],
  ['read', 'Read lists and pages of torrents.'],
  ['account', 'Read your email address, statistics, transfers and notices; change bookmarks and saved searches.'],
]

/** Creates an API token and shows it once. */
export function CreateToken({ outdated, onClose }: { outdated: QueryKey; onClose: () => void }) {
  const queries = useQueryClient()
  const create = useMutation<ApiToken & { token: string }, ApiError, Values>({
    mutationFn: (values) => read(api.POST('/api/tokens', { body: bodyOf(values) })),
    onSuccess: () => queries.invalidateQueries({ queryKey: outdated }),
    // Keeps the token out of the cache.
    gcTime: 0,
  })
  const { data, error } = create
  if (data !== undefined)
    return (
      <SecretOffer
        title={`API token ${data.name}`}
        text={data.token}
        what="API token"
        warning="You have not copied the token. It cannot be shown again. If you lose it, revoke it and create another."
        onClose={onClose}
      >
        <p>The tracker stores only a hash, so the token is shown only once.</p>
      </SecretOffer>
    )
  return (
    <FormDialog
      title="Create API token"
      action="Create API token"
      fields={['name', 'expires', 'addresses']}
      error={error}
      isBusy={create.isPending}
      onSubmit={(values) => create.mutate(values)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        required
        maxLength={60}
        autoComplete="off"
        data-focus=""
        hint="The program that will use it, such as Sonarr."
        error={error}
      />
      <fieldset className="scopes">
        <legend>Scopes</legend>
        {SCOPES.map(([scope, does]) => (
          <label key={scope} className="switch">
            <input
              type="checkbox"
              name={scope}
              value="true"
              defaultChecked={scope === 'torznab' || scope === 'download'}
            />
            <span>
              <b>{scope}</b> <span className="muted">{does}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <TextField
        label="Expires"
        name="expires"
        type="datetime-local"
        hint="Leave empty for a token that works until you revoke it."
        error={error}
      />
      <TextField
        label="Allowed addresses"
        name="addresses"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        hint="IP addresses and CIDR ranges, such as 203.0.113.7, 2001:db8::/48. Leave empty for any."
        error={error}
      />
      <OwnPassword isFirst={false} />
    </FormDialog>
  )
}

function bodyOf(values: Values) {
  const { name = '', expires = '', addresses = '', password = '' } = values
  return {
    ...{ name, password },
    scopes: SCOPES.flatMap(([scope]) => (values[scope] === 'true' ? [scope] : [])),
    expires: expires === '' ? null : new Date(expires).toISOString(),
    addresses: addresses.split(/[\s,]+/).filter((address) => address !== ''),
  }
}
