/** A request of the check and its answer. */
export type Exchange = {
  /** Path and query, without the key. */
  readonly request: string
  readonly status: number
  readonly durationMs: number
}

/** The first failure. */
export type Failure = {
  readonly step: 'Capabilities' | 'Search' | 'Item' | 'Download' | 'Announce URL'
  readonly problem: string
  /** The code of the API's error document. */
  readonly errorCode?: number | undefined
  readonly retryAfterSeconds?: number
}

export type Checked = {
  readonly exchanges: readonly Exchange[]
  readonly releases: number
  readonly failure?: Failure
}

class Refused extends Error {
  readonly failure: Omit<Failure, 'step'>

  constructor(failure: Omit<Failure, 'step'>) {
    super(failure.problem)
    this.failure = failure
  }
}

/**
 * Does once what tools and clients do: reads the capabilities and the latest releases, one of them, its .torrent file, and
 * scrapes it at the announce URL. It counts as two searches and a download.
 *
 * @param categories Torznab IDs with commas between them; empty for all
 */
export async function checkConnection(
  { passkey, announceUrl }: { readonly passkey: string; readonly announceUrl: string },
  categories: string,
): Promise<Checked> {
  const exchanges: Exchange[] = []
  let step: Failure['step'] = 'Capabilities'
  let releases = 0

  /** Requests a URL of the site from the address of this page. */
  async function fetchText(url: string, encoding: 'utf-8' | 'latin1'): Promise<string> {
    const { pathname, search } = new URL(url, location.origin)
    const started = performance.now()
    // Tools have neither the session cookie nor the cache of the browser.
    const response = await fetch(`${pathname}${search}`, { credentials: 'omit', cache: 'no-store' })
    const text = new TextDecoder(encoding).decode(await response.arrayBuffer())
    const durationMs = performance.now() - started
    exchanges.push({ request: `${pathname}${search}`.replaceAll(passkey, '…'), status: response.status, durationMs })
    const error = text.includes('<error') ? parse(text).documentElement : undefined
    if (error?.localName === 'error')
      throw new Refused({
        problem: error.getAttribute('description') ?? '',
        errorCode: Number(error.getAttribute('code')),
        retryAfterSeconds: Number(response.headers.get('retry-after')),
      })
    if (!response.ok) throw refused(`the server answered with status ${response.status}`)
    return text
  }

  async function fetchDocument(query: string, root: string): Promise<Document> {
    const document = parse(await fetchText(`/api/torznab/api?${query}&apikey=${passkey}`, 'utf-8'))
    if (document.documentElement.localName !== root) throw refused('the answer is not a Torznab document')
    return document
  }

  try {
    const caps = await fetchDocument('t=caps', 'caps')
    if (caps.querySelector('category') === null) throw refused('the site has no categories')
    step = 'Search'
    const feed = await fetchDocument(`t=search&limit=100&cat=${categories.replaceAll(' ', '')}`, 'rss')
    const items = feed.querySelectorAll('channel > item')
    releases = items.length
    const infoHash = items[0]?.querySelector('[name=infohash]')?.getAttribute('value') ?? ''
    if (releases === 0) return { exchanges, releases }
    step = 'Item'
    const item = await fetchDocument(`t=details&id=${infoHash}`, 'rss')
    const link = item.querySelector('item > enclosure')?.getAttribute('url') ?? ''
    if (!URL.canParse(link)) throw refused('the release has no link')
    step = 'Download'
    if (!(await fetchText(link, 'latin1')).includes(announceUrl))
      throw refused('the .torrent file does not have your announce URL')
    step = 'Announce URL'
    const scrapeUrl = `${announceUrl.replace('/announce', '/scrape')}&info_hash=${infoHash.replaceAll(/../g, '%$&')}`
    const reason = /14:failure reason\d+:(.*)e$/s.exec(await fetchText(scrapeUrl, 'latin1'))?.[1]
    if (reason !== undefined) throw refused(`the tracker answered “${reason}”`)
    return { exchanges, releases }
  } catch (error) {
    if (error instanceof TypeError)
      return { exchanges, releases, failure: { step, problem: 'the server cannot be reached' } }
    if (error instanceof Refused) return { exchanges, releases, failure: { step, ...error.failure } }
    throw error
  }
}

function parse(text: string): Document {
  return new DOMParser().parseFromString(text, 'application/xml')
}

function refused(problem: string): Refused {
  return new Refused({ problem })
}
