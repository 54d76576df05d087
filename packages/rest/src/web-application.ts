import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { allowReading, isReading } from '@vault-and-tracker/service-kit/reading'
import type { Request, RequestHandler } from 'express'
import { type Content, contentSecurityPolicy, sendContent } from './content.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
/** Written beside each file by the build, the smaller first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

type Build = { readonly writtenAt: number; readonly files: ReadonlyMap<string, Content> }

/**
 * Serves a built web application from memory: its hashed files for ever, its page fresh each time. An address below
 * `pages` is the page; another one that a browser navigates to is the page with status 404. It comes behind all other
 * routes and leaves the rest to the next handler. A build that is replaced is served from the next page on.
 *
 * @param options `folder` has index.html and assets/; without them, `onMissing` is told once and a browser is answered 404;
 *   `sendsForms` where the browser may send forms by itself; `name` stands in the title of the page instead of its own
 */
export function webApplication(options: {
  folder: string
  pages: readonly string[]
  onMissing: (text: string) => void
  sendsForms?: boolean
  name?: string | undefined
}): RequestHandler {
  const policy = contentSecurityPolicy(options.sendsForms === true ? { 'form-action': "'self'" } : {})
  const index = join(options.folder, 'index.html')
  const pages = new Set(['', ...options.pages])
  let build = readBuild(options, index)
  if (build === undefined) options.onMissing(`the web application is not built: ${index} is missing; run pnpm build`)
  return (request, response, next) => {
    const { path } = request
    if (path.startsWith('//')) {
      // A browser would take the address of such a page for that of another host.
      next()
      return
    }
    const isPage = pages.has(path.split('/')[1] ?? '')
    const isWanted = isPage || (isNavigation(request) && !/^\/(api|announce|scrape)(\/|$)/.test(path))
    if (isWanted && build?.writtenAt !== writtenAt(index)) build = readBuild(options, index)
    const file = build?.files.get(path) ?? (isWanted ? build?.files.get('/index.html') : undefined)
    if (file === undefined || !isReading(request)) {
      if (file === undefined || !(isPage || build?.files.has(path) === true)) {
        next()
        return
      }
      allowReading(response)
      response.status(405).end()
      return
    }
    const isAsset = path.startsWith('/assets/')
    response.status(isPage || build?.files.has(path) === true ? 200 : 404)
    response.set({
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    sendContent(request, response, file)
  }
}

function isNavigation(request: Request): boolean {
  return isReading(request) && (request.get('accept') ?? '').includes('text/html')
}

/** Every file of a build; undefined when there is none. */
function readBuild(
  { folder, name: given }: { folder: string; name?: string | undefined },
  index: string,
): Build | undefined {
  const at = writtenAt(index)
  if (at === undefined) return undefined
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const all = new Set(names)
  const files = names.flatMap((name): [string, Content][] => {
    const type = TYPES[extname(name)]
    if (type === undefined) return []
    const read = readFileSync(join(folder, name))
    const isRenamed = name === 'index.html' && given !== undefined
    const plain = isRenamed ? renamed(read, given) : read
    const packed = (isRenamed ? [] : ENCODINGS).flatMap(([encoding, ending]): [string, Buffer][] =>
      all.has(name + ending) ? [[encoding, readFileSync(join(folder, name + ending))]] : [],
    )
    const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 16)
    const path = `/${name.split(sep).join('/')}`
    return [[path, { type, digest, bodies: new Map([...packed, ['identity', plain]]) }]]
  })
  return { writtenAt: at, files: new Map(files) }
}

/** A page with another title. What was compressed before has the old one. */
function renamed(page: Buffer, name: string): Buffer {
  const text = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return Buffer.from(page.toString('utf8').replace(/<title>[^<]*/, () => `<title>${text}`))
}

function writtenAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs
}
