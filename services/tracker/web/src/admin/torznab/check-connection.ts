/** A request of the check and its answer. */
export type Exchange = {
  /** Path and parameters, without the key. */
  readonly request: string
  readonly status: number
  readonly durationMs: number
  /** The code of the API's error document. */
  readonly errorCode: number | undefined
  readonly retryAfterSeconds: number
}

/** The outcome of a check: the number of releases, or a problem. */
export type Checked = {
  readonly exchanges: readonly Exchange[]
  readonly releases?: number
  readonly problem?: string
}

class Problem extends Error {}

/**
 * Requests the capabilities and the latest releases as a tool would: over HTTP, through the same proxies, and with an XML
 * parser as strict as those of tools. It counts as one search.
 *
 * @param categories Torznab IDs with commas between them; empty for all
 */
export async function checkConnection(passkey: string, categories: string): Promise<Checked> {
  const exchanges: Exchange[] = []
  const get = async (query: string, root: string): Promise<Document> => {
    const request = `/api/torznab/api?${query}`
    const started = performance.now()
    // Tools have neither the session cookie nor the cache of the browser.
    const response = await fetch(`${request}&apikey=${passkey}`, { credentials: 'omit', cache: 'no-store' })
    const document = new DOMParser().parseFromString(await response.text(), 'application/xml')
    const durationMs = performance.now() - started
    const retryAfterSeconds = Number(response.headers.get('retry-after'))
    const { documentElement: found } = document
    const errorCode = found.localName === 'error' ? Number(found.getAttribute('code')) : undefined
    exchanges.push({ request, status: response.status, durationMs, errorCode, retryAfterSeconds })
    if (errorCode !== undefined) throw new Problem(`error ${errorCode}, ${found.getAttribute('description') ?? ''}`)
    if (!response.ok) throw new Problem(`unexpected status ${response.status}`)
    if (found.localName !== root) throw new Problem('the answer is not a Torznab document')
    return document
  }
  try {
    const caps = await get('t=caps', 'caps')
    if (caps.querySelector('category') === null) throw new Problem('the site has no categories')
    const cat = categories.replaceAll(' ', '')
    const feed = await get(`t=search&extended=1&limit=100${cat === '' ? '' : `&cat=${cat}`}`, 'rss')
    return { exchanges, releases: feed.querySelectorAll('channel > item > enclosure').length }
  } catch (error) {
    if (error instanceof TypeError) return { exchanges, problem: 'the server cannot be reached' }
    if (error instanceof Problem) return { exchanges, problem: error.message }
    throw error
  }
}
