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
 * rest to the next handler. A new build is served from the next request on.
 *
 * @param options `folder` contains index.html and assets/; without them, `onMissing` is called once; `sendsForms` allows
 *   the browser to submit forms; `name` replaces the title of the page
 */
export function webApplication(options: {
  folder: string
  pages: readonly string[]
  onMissing: (text: string) => void
  sendsForms?: boolean
  name?: string | undefined
}): RequestHandler {
  const { folder, onMissing, name } = options
  const index = join(folder, 'index.html')
  const pages = new Set(['', 'index.html', ...options.pages])
  const policy = contentSecurityPolicy(options.sendsForms === true ? { 'form-action': "'self'" } : {})
  const headers = { 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' }
  let page: { readonly writtenAt: number; readonly content: Promise<Content> } | undefined

  function readPage(): Promise<Content> | undefined {
    const writtenAt = statSync(index, { throwIfNoEntry: false })?.mtimeMs
    if (writtenAt !== undefined && writtenAt !== page?.writtenAt)
      page = { writtenAt, content: createContent('text/html', withTitle(readFileSync(index, 'utf8'), name)) }
    return page?.content
  }
  if (readPage() === undefined) onMissing(`the web application is not built: ${index} is missing; run pnpm build`)

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
    const content = await readPage()
    const isPage = pages.has(path.split('/')[1] ?? '')
    const isFile = FILE.test(path) && existsSync(join(folder, path))
    // A browser would take a path that starts with two slashes for the address of another host.
    if (content === undefined || path.startsWith('//') || !(isPage || isFile || isNavigation(request))) next()
    else if (!isReading(request)) {
      allowReading(response)
      response.status(405).end()
    } else if (isFile) await sendFile(request, response)
    else {
      response.set({ ...headers, 'Cache-Control': 'no-cache' }).status(isPage ? 200 : 404)
      sendContent(request, response, content)
    }
  }
}

function isNavigation(request: Request): boolean {
  const isApi = /^\/(api|announce|scrape)(\/|$)/.test(request.path)
  return !isApi && isReading(request) && (request.get('accept') ?? '').includes('text/html')
}

function withTitle(page: string, title: string | undefined): string {
  if (title === undefined) return page
  const text = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return page.replace(/<title>[^<]*/, () => `<title>${text}`)
}
