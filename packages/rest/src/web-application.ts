import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { allowReading, isReading } from '@vault-and-tracker/service-kit/http/conditional-get'
import type { Request, RequestHandler, Response } from 'express'
import { type Content, contentSecurityPolicy, createContent, sendContent } from './content.ts'

const FILE = /^\/(assets\/)?[\w.-]+\.(js|css|svg)$/
/** The build writes compressed copies next to each file; the smaller one comes first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/**
 * Serves a built web application: its hashed files as immutable, its page fresh each time. Paths below `pages` get the page;
 * any other path that a browser navigates to gets the page with status 404. It comes after all other routes and leaves the
 * rest to the next handler. A new build, or a new look, is served from the next request on.
 *
 * @param options `folder` contains index.html and assets/; without them, `onMissing` is called once; `sendsForms` allows
 *   the browser to submit forms; `look` adapts the page
 */
export function webApplication(options: {
  folder: string
  pages: readonly string[]
  onMissing: (text: string) => void
  sendsForms?: boolean
  look?: () => Promise<Look>
}): RequestHandler {
  const { folder, onMissing, look = (): Promise<Look> => Promise.resolve({}) } = options
  const index = join(folder, 'index.html')
  const pages = new Set(['', 'index.html', ...options.pages])
  const policyWith = (more: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
    'Content-Security-Policy': contentSecurityPolicy({
      ...(options.sendsForms === true && { 'form-action': "'self'" }),
      ...more,
    }),
    'Referrer-Policy': 'no-referrer',
  })
  const headers = policyWith({})
  let page: { readonly key: string; readonly content: Promise<Content>; readonly headers: typeof headers } | undefined

  /** Undefined if the application is not built. */
  async function readPage(): Promise<typeof page> {
    const writtenAt = statSync(index, { throwIfNoEntry: false })?.mtimeMs
    if (writtenAt === undefined) return page
    const now = await look()
    const key = JSON.stringify([writtenAt, now])
    if (key !== page?.key) {
      const { style } = now
      page = {
        key,
        content: createContent('text/html', inLook(readFileSync(index, 'utf8'), now)),
        headers: style === undefined ? headers : policyWith({ 'style-src': `'self' ${hashOf(style)}` }),
      }
    }
    return page
  }
  if (!existsSync(index)) onMissing(`the web application is not built: ${index} is missing; run pnpm build`)

  function sendFile(request: Request, response: Response): Promise<void> {
    const { path } = request
    const [encoding, ending] = ENCODINGS.find(
      ([name, ending]) => request.acceptsEncodings(name) !== false && existsSync(join(folder, path + ending)),
    ) ?? [undefined, '']
    if (encoding !== undefined) response.set('Content-Encoding', encoding)
    response.type(extname(path)).vary('Accept-Encoding').set(headers)
    response.set('Cache-Control', path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
    return new Promise((resolve, reject) => {
      const options = { root: folder, cacheControl: false, acceptRanges: false }
      response.sendFile(`.${path}${ending}`, options, (error?: Error & { status?: number }) => {
        // After the headers, the only error is a client that disconnected. A file that does not match a condition is a 412.
        if (error === undefined || response.headersSent || response.destroyed) resolve()
        else if (error.status !== 412) reject(error)
        else {
          response.removeHeader('Content-Encoding')
          response.set('Cache-Control', 'no-store').status(412).end()
          resolve()
        }
      })
    })
  }

  return async (request, response, next) => {
    const { path } = request
    const served = await readPage()
    const isPage = pages.has(path.split('/')[1] ?? '')
    const isFile = FILE.test(path) && existsSync(join(folder, path))
    // A browser would take a path that starts with two slashes for the address of another host.
    if (served === undefined || path.startsWith('//') || !(isPage || isFile || isNavigation(request))) next()
    else if (!isReading(request)) {
      allowReading(response)
      response.status(405).end()
    } else if (isFile) await sendFile(request, response)
    else {
      response.set({ ...served.headers, 'Cache-Control': 'no-cache' }).status(isPage ? 200 : 404)
      sendContent(request, response, await served.content)
    }
  }
}

function isNavigation(request: Request): boolean {
  const isApi = /^\/(api|announce|scrape)(\/|$)/.test(request.path)
  return !isApi && isReading(request) && (request.get('accept') ?? '').includes('text/html')
}

/** How a site differs from the built page. */
export type Look = {
  /** The title of the page. */
  readonly name?: string | undefined
  /** The path of a PNG or SVG file. */
  readonly icon?: string | undefined
  /** A style sheet for the head. The content security policy allows exactly this text. */
  readonly style?: string | undefined
}

function inLook(page: string, { name, icon, style }: Look): string {
  let adapted = page
  if (name !== undefined) adapted = adapted.replace(/<title>[^<]*/, () => `<title>${escaped(name)}`)
  if (icon !== undefined) {
    const type = icon.endsWith('.png') ? 'image/png' : 'image/svg+xml'
    adapted = adapted.replace(/<link rel="icon"[^>]*>/, () => `<link rel="icon" href="${icon}" type="${type}">`)
  }
  if (style !== undefined) adapted = adapted.replace('</head>', () => `<style>${style}</style></head>`)
  return adapted
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** The source of an inline style (CSP level 3 section 2.3.1). */
function hashOf(style: string): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`
}
