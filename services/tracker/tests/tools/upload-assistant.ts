import { ToolError } from './tool.ts'

// Imitates Upload-Assistant with a site entry of the UNIT3D kind, and Unit3Dup, which downloads without headers.

/** A site entry, and how the tool reaches the site. `baseUrl` is without a slash at the end. */
export type SiteEntry = {
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>
  readonly baseUrl: string
  readonly apiKey: string
}

/** What Upload-Assistant knows about a release. */
export type Meta = {
  readonly name: string
  readonly torrent: Buffer
  readonly category: 'MOVIE' | 'TV'
  readonly type: string
  readonly resolution: string
  readonly tmdb: number
  readonly season?: string
  readonly nfo?: Buffer
  /** Fields of the form in place of the usual ones. */
  readonly fields?: Readonly<Record<string, string>>
}

/** A torrent that the search for duplicates found. */
export type Dupe = {
  readonly name: string
  readonly size: number
  readonly files: readonly string[]
  readonly link: string
  readonly download: string
  readonly id: string
  readonly type: string
  readonly res: string
  readonly internal: boolean
}

type Resource = { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> }

const CATEGORIES = { MOVIE: '1', TV: '2' } as const

const bearerHeaders = ({ apiKey }: SiteEntry) => ({ authorization: `Bearer ${apiKey}`, accept: 'application/json' })

/** The search before an upload. @throws ToolError as its message shows the answer */
export async function searchExisting(site: SiteEntry, meta: Omit<Meta, 'torrent'>): Promise<readonly Dupe[]> {
  const params = new URLSearchParams({
    ...{ tmdbId: String(meta.tmdb), 'categories[]': CATEGORIES[meta.category], perPage: '100' },
    name: meta.category === 'TV' ? ` ${meta.season ?? ''}` : '',
  })
  const resolutions = ['3', '4'].includes(meta.resolution) ? ['3', '4'] : [meta.resolution]
  for (const each of resolutions) params.append('resolutions[]', each)
  params.append('types[]', meta.type)
  const answer = await site.fetch(`${site.baseUrl}/api/torrents/filter?${params.toString()}`, {
    headers: bearerHeaders(site),
  })
  if (!answer.ok) throw await httpError(answer)
  const { data } = (await answer.json()) as { data: readonly Resource[] }
  return data.map(({ id, attributes }) => ({
    name: String(attributes['name']),
    size: Number(attributes['size']),
    files: (attributes['files'] as readonly { name: string }[]).map(({ name }) => name),
    link: String(attributes['details_link']),
    download: String(attributes['download_link']),
    id,
    type: String(attributes['type']),
    res: String(attributes['resolution']),
    internal: attributes['internal'] === true,
  }))
}

/** Uploads, and downloads the site's file. @throws ToolError as its message shows the answer */
export async function upload(
  site: SiteEntry,
  meta: Meta,
): Promise<{ id: string; message: string; url: string; file: Buffer }> {
  const form = new FormData()
  const fields = {
    ...{
      name: meta.name,
      description: '[b]Text[/b]',
      mediainfo: '',
      bdinfo: '',
      category_id: CATEGORIES[meta.category],
    },
    ...{ type_id: meta.type, resolution_id: meta.resolution, tmdb: String(meta.tmdb), imdb: '0', tvdb: '0', mal: '0' },
    ...{ igdb: '0', anonymous: '0', stream: '0', sd: '0', keywords: 'one, two', personal_release: '0', internal: '0' },
    ...(meta.category === 'TV' && { season_number: '1', episode_number: '0' }),
    ...{ featured: '0', free: '0', doubleup: '0', sticky: '0', mod_queue_opt_in: '0', draft: '0' },
    ...{ region_id: '12', distributor_id: '34', exclusive: '1' },
    ...meta.fields,
  }
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append(
    'torrent',
    new Blob([Uint8Array.from(meta.torrent)], { type: 'application/x-bittorrent' }),
    'torrent.torrent',
  )
  if (meta.nfo) form.append('nfo', new Blob([Uint8Array.from(meta.nfo)], { type: 'text/plain' }), 'nfo_file.nfo')
  const headers = { ...bearerHeaders(site), 'user-agent': 'Upload Assistant 7.0 (Linux 6.1)' }
  const answer = await site.fetch(`${site.baseUrl}/api/torrents/upload`, { method: 'POST', body: form, headers })
  if (!answer.ok) throw await httpError(answer)
  const { success, data, message } = (await answer.json()) as { success: boolean; data: string; message: string }
  if (!success) throw new ToolError(message)
  const [, id = ''] = /\/(\d+)\./.exec(data) ?? []
  const file = await site.fetch(data, { headers })
  if (!file.ok) throw await httpError(file)
  return { id, message, url: data, file: Buffer.from(await file.arrayBuffer()) }
}

/** What Upload-Assistant learns from an existing torrent, by its id or by the name of a file. */
export async function torrentInfo(site: SiteEntry, by: { readonly id: string } | { readonly fileName: string }) {
  const params = new URLSearchParams({ api_token: site.apiKey, ...('fileName' in by && { file_name: by.fileName }) })
  const path = 'id' in by ? by.id : 'filter'
  const answer = await site.fetch(`${site.baseUrl}/api/torrents/${path}?${params.toString()}`)
  const json = (await answer.json()) as { data?: readonly Resource[]; attributes?: Resource['attributes'] }
  const attributes = (json.data ? json.data[0]?.attributes : json.attributes) ?? {}
  const idOf = (name: string): number => Number(attributes[name] ?? 0)
  return {
    ...{ tmdb: idOf('tmdb_id'), imdb: idOf('imdb_id'), tvdb: idOf('tvdb_id'), mal: idOf('mal_id') },
    description: attributes['description'] ?? null,
    category: attributes['category'] ?? null,
    infoHash: attributes['info_hash'] ?? null,
  }
}

async function httpError(answer: Response): Promise<ToolError> {
  return new ToolError(`HTTP ${String(answer.status)} - ${await answer.text()}`)
}
