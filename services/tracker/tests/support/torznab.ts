import { Parser } from 'xml2js'
import type { Answer } from './client.ts'
import { tellOfChange } from './invalidations.ts'
import { makeTorrent } from './make-torrent.ts'
import { createMember, type TestMember } from './members.ts'
import { startTracker, type TestTracker } from './tracker.ts'

/** A tracker with the standard categories, a member who uploads, and requests to its Torznab API. */
export type TorznabSite = {
  readonly tracker: TestTracker
  readonly uploader: TestMember
  /** Uploads a torrent, by default to `tv-hd`. Fields are those of the upload form. */
  upload(name: string, fields?: Readonly<Record<string, string>>): Promise<{ id: string; infoHash: string }>
  /** Sends a request with the uploader's key, unless it has one. */
  ask(query: string, headers?: Record<string, string>): Promise<Answer>
  /** The titles that a request finds. */
  titles(query: string): Promise<readonly string[]>
}

export async function startTorznabSite(
  env: Readonly<Record<string, string>> = {},
  servers: { postgres?: { url: string }; redisUrl?: string; areSearchesTimed?: boolean } = {},
): Promise<TorznabSite> {
  const tracker = await startTracker(env, servers)
  await tracker.context.useCases.categories.seed()
  const uploader = await createMember(tracker, 'uploader')
  const ask = (query: string, headers?: Record<string, string>): Promise<Answer> =>
    tracker.client().get(`/api/torznab?${withKey(query, uploader.passkey)}`, headers)
  return {
    tracker,
    uploader,
    ask,
    async upload(name, fields = {}) {
      const answer = await uploader.client.upload(makeTorrent(name), { category: 'tv-hd', ...fields })
      if (answer.status !== 201) throw new Error(`could not upload ${name}: ${answer.text}`)
      return { id: answer.member('id'), infoHash: answer.member('infoHash') }
    },
    titles: async (query) => (await readFeed(await ask(query))).items.map(({ title }) => title),
  }
}

/** Sets the limits of everybody; without any, there are more requests than a test makes. */
export async function setLimits(
  tracker: TestTracker,
  { searches = 10_000, downloads = 10_000 }: { searches?: number; downloads?: number } = {},
): Promise<void> {
  await tracker.sql('update torznab_settings set search_limit = $1, download_limit = $2', [searches, downloads])
  await tellOfChange(tracker.redisClient, { kind: 'torznab-settings' })
}

export function withKey(query: string, passkey: string): string {
  return /(?:^|&)(?:apikey|passkey)=/i.test(query) ? query : `${query}&apikey=${passkey}`
}

/** A feed as xml2js reads it. */
export type ReadFeed = {
  readonly offset: number
  readonly total: number
  readonly limits: Readonly<Record<string, string>>
  readonly items: readonly ReadItem[]
}

export type ReadItem = {
  readonly title: string
  readonly guid: string
  readonly link: string
  readonly pubDate: string
  readonly size: string
  readonly categories: readonly string[]
  readonly enclosure: Readonly<Record<string, string>>
  /** The values of each extended attribute. */
  readonly attributes: Readonly<Record<string, readonly string[]>>
}

type Attributes = { readonly $: Readonly<Record<string, string>> }
type XmlItem = Readonly<Record<'title' | 'guid' | 'link' | 'pubDate' | 'size' | 'category', readonly string[]>> & {
  readonly enclosure: readonly Attributes[]
  readonly 'torznab:attr': readonly Attributes[]
}
type XmlFeed = {
  readonly rss: {
    readonly channel: readonly [
      {
        readonly 'newznab:response': readonly Attributes[]
        readonly 'newznab:apilimits'?: readonly Attributes[]
        readonly item?: readonly XmlItem[]
      },
    ]
  }
}

/** Reads a feed. Throws if the answer is not a feed. */
export async function readFeed({ status, text }: Answer): Promise<ReadFeed> {
  if (status !== 200 || !text.includes('<rss')) throw new Error(`no feed: ${status} ${text}`)
  const { rss } = (await new Parser().parseStringPromise(text)) as XmlFeed
  const [channel] = rss.channel
  const response = channel['newznab:response'][0]?.$ ?? {}
  return {
    offset: Number(response['offset']),
    total: Number(response['total']),
    limits: channel['newznab:apilimits']?.[0]?.$ ?? {},
    items: (channel.item ?? []).map(readItem),
  }
}

function readItem(item: XmlItem): ReadItem {
  const attributes: Record<string, string[]> = {}
  for (const { $ } of item['torznab:attr']) (attributes[$['name'] ?? ''] ??= []).push($['value'] ?? '')
  const { title, guid, link, pubDate, size } = item
  return {
    title: title[0] ?? '',
    guid: guid[0] ?? '',
    link: link[0] ?? '',
    pubDate: pubDate[0] ?? '',
    size: size[0] ?? '',
    categories: item.category,
    enclosure: item.enclosure[0]?.$ ?? {},
    attributes,
  }
}

/** The code and description of an error document. */
export function readError({ text }: Answer): { code: number; description: string } {
  const [, code = '', description = ''] = /<error code="(\d+)" description="([^"]*)"\/>/.exec(text) ?? []
  return { code: Number(code), description }
}
