import type { Element } from './element.ts'

// This folder imitates automation tools: it sends their requests and judges the answers by their rules.

/** How a tool reaches a server; `fetch` itself is one. Some tools follow redirects themselves. */
export type Fetch = (
  url: string,
  init: { readonly headers: Readonly<Record<string, string>>; readonly redirect: 'manual' },
) => Promise<Response>

/** The settings that a user enters in a tool. */
export type Indexer = {
  readonly fetch: Fetch
  /** Reads a document as strictly as .NET, Go and Python do. Fails when it is not well-formed. */
  readonly readXml: (document: string) => Promise<Element>
  /** Without a slash at the end. */
  readonly baseUrl: string
  /** `/api/torznab`, or `/api/torznab/api` for tools that insist on `/api` at the end. */
  readonly apiPath: string
  readonly apiKey: string
}

/** A release as a tool has read it from a feed. */
export type Release = {
  readonly title: string
  readonly guid: string
  readonly link: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds. */
  readonly published: number
  readonly categories: readonly number[]
  readonly seeders: number | undefined
  readonly peers: number | undefined
  readonly infoHash: string | undefined
}

/** The error message that the tool shows to its user. */
export class ToolError extends Error {}

/** The body of an answer that has to be 200. @throws ToolError as a tool reports another status */
export async function get(
  indexer: Indexer,
  query: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ url: string; status: number; headers: Response['headers']; body: string }> {
  const url = `${indexer.baseUrl}${indexer.apiPath}?${query}`
  const response = await indexer.fetch(url, { headers, redirect: 'manual' })
  return { url, status: response.status, headers: response.headers, body: await response.text() }
}

/** @throws ToolError when a strict reader of XML refuses the document */
export async function readDocument(indexer: Indexer, body: string): Promise<Element> {
  try {
    return await indexer.readXml(body)
  } catch (error) {
    throw new ToolError('The answer is not well-formed XML', { cause: error })
  }
}

/** A whole number as most languages read it. @throws ToolError for anything else */
export function wholeNumber(text: string | undefined, what: string): number {
  if (text === undefined || !/^\d+$/.test(text.trim()))
    throw new ToolError(`${what} is not a whole number: ${text ?? ''}`)
  return Number(text)
}
