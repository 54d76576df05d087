import type { Element } from './element.ts'
import type { Indexer } from './tool.ts'

/** A request that a tool made, and what it got. */
export type Exchange = {
  /** Path and parameters, without the key. */
  readonly request: string
  readonly status: number
  readonly durationMs: number
  /** Of a refusal, what the API says. */
  readonly error: { readonly code: number; readonly description: string } | undefined
  /** Whole seconds after which to ask again. */
  readonly retryAfter: number | undefined
}

const PARSER_ERROR_NAMESPACE = 'http://www.mozilla.org/newlayout/xml/parsererror.xml'

/**
 * The API of this site as a tool would reach it, asked by the browser: through the same proxies, with real answers. Only
 * the User-Agent is the browser's, so the log tells these requests from those of tools.
 *
 * @param onExchange called after each request
 */
export function browserIndexer(apiKey: string, path: string, onExchange: (exchange: Exchange) => void): Indexer {
  return {
    baseUrl: location.origin,
    apiPath: `/api/torznab${path}`,
    apiKey,
    readXml: (document) => Promise.resolve().then(() => readXml(document)),
    fetch: async (url, { headers, redirect }) => {
      const started = performance.now()
      // Without the cookie, which no tool has, and without what the browser may have kept.
      const response = await fetch(url, {
        headers: headersOf(headers),
        redirect,
        credentials: 'omit',
        cache: 'no-store',
      })
      const body = await response.clone().text()
      const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
      onExchange({
        request: withoutKey(url),
        status: response.status,
        durationMs: performance.now() - started,
        error: refusalIn(body),
        retryAfter: Number.isFinite(wait) ? wait : undefined,
      })
      return response
    },
  }
}

/** Browsers send a User-Agent of their own whatever a page wants. */
function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'User-Agent'))
}

function withoutKey(address: string): string {
  const { pathname, search } = new URL(address)
  return `${pathname}${search.replace(/([?&]apikey=)[^&]*/, '$1…')}`
}

function refusalIn(body: string): Exchange['error'] {
  const [, code, description = ''] = /<error code="(\d+)" description="([^"]*)"/.exec(body) ?? []
  return code === undefined ? undefined : { code: Number(code), description }
}

/** Reads a document with the parser of the browser, which is as strict as that of the tools. */
function readXml(text: string): Element {
  const { documentElement: root } = new DOMParser().parseFromString(text, 'application/xml')
  const failed = root.namespaceURI === PARSER_ERROR_NAMESPACE || root.querySelector('parsererror') !== null
  if (failed) throw new Error('the document is not well-formed')
  return toElement(root)
}

function toElement(node: globalThis.Element): Element {
  const own = Array.from(node.childNodes).filter(
    ({ nodeType }) => nodeType === Node.TEXT_NODE || nodeType === Node.CDATA_SECTION_NODE,
  )
  return {
    name: node.namespaceURI === null ? node.localName : `{${node.namespaceURI}}${node.localName}`,
    attributes: Object.fromEntries(Array.from(node.attributes).map(({ name, value }) => [name, value])),
    text: own.map(({ nodeValue }) => nodeValue ?? '').join(''),
    children: Array.from(node.children).map(toElement),
  }
}
