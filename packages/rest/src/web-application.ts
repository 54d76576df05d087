import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import type { Request, RequestHandler, Response } from 'express'

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

/** Scripts, styles and requests of this origin alone; nothing inline, nothing framed. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A built file in each encoding that there is. */
type BuiltFile = { readonly type: string; readonly etag: string; readonly bodies: ReadonlyMap<string, Buffer> }
type Build = { readonly writtenAt: number; readonly files: ReadonlyMap<string, BuiltFile> }

/**
 * Serves a built web application from memory: its hashed files for ever, its page fresh each time. An address below
 * `pages` is the page; another one that a browser navigates to is the page with status 404. It comes behind all other
 * routes and leaves the rest to the next handler. A build that is replaced is served from the next page on.
 *
 * @param options `folder` has index.html and assets/; without them, `onMissing` is told once and a browser is answered 404
 */
export function webApplication(options: {
  folder: string
  pages: readonly string[]
  onMissing: (text: string) => void
}): RequestHandler {
  const index = join(options.folder, 'index.html')
  const pages = new Set(['', ...options.pages])
  let build = readBuild(options.folder, index)
  if (build === undefined) options.onMissing(`the web application is not built: ${index} is missing; run pnpm build`)
  return (request, response, next) => {
    const { path } = request
    const isPage = pages.has(path.split('/')[1] ?? '')
    const isWanted = isPage || (isNavigation(request) && !/^\/(api|announce|scrape)(\/|$)/.test(path))
    if (isWanted && build?.writtenAt !== writtenAt(index)) build = readBuild(options.folder, index)
    const file = build?.files.get(path) ?? (isWanted ? build?.files.get('/index.html') : undefined)
    if (file === undefined || !isReading(request)) {
      if (file !== undefined && (isPage || build?.files.has(path) === true)) refuseMethod(response)
      else next()
      return
    }
    const isAsset = path.startsWith('/assets/')
    response.status(isPage || build?.files.has(path) === true ? 200 : 404)
    response.set({
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    sendFile(request, response, file)
  }
}

function isReading({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD'
}

function isNavigation(request: Request): boolean {
  return isReading(request) && (request.get('accept') ?? '').includes('text/html')
}

/** RFC 9110 section 15.5.6. */
function refuseMethod(response: Response): void {
  response.status(405).set('Allow', 'GET, HEAD').end()
}

function sendFile(request: Request, response: Response, { type, etag, bodies }: BuiltFile): void {
  // Browsers name gzip first and mean no preference; ours is the smallest.
  const chosen = [...bodies.keys()].find((encoding) => request.acceptsEncodings(encoding) !== false) ?? 'identity'
  const body = bodies.get(chosen) ?? Buffer.alloc(0)
  const tag = `"${etag}-${chosen}"`
  response.set({ 'Content-Type': type, ETag: tag, Vary: 'Accept-Encoding' })
  if (chosen !== 'identity') response.set('Content-Encoding', chosen)
  // Express would look for the tag only among answers with status 200, and this is all that RFC 9110 asks here.
  if (request.get('if-none-match')?.includes(tag) === true) response.status(304).end()
  else response.set('Content-Length', String(body.length)).end(request.method === 'HEAD' ? undefined : body)
}

/** Every file of a build; undefined when there is none. */
function readBuild(folder: string, index: string): Build | undefined {
  const at = writtenAt(index)
  if (at === undefined) return undefined
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const all = new Set(names)
  const files = names.flatMap((name): [string, BuiltFile][] => {
    const type = TYPES[extname(name)]
    if (type === undefined) return []
    const plain = readFileSync(join(folder, name))
    const packed = ENCODINGS.flatMap(([encoding, ending]): [string, Buffer][] =>
      all.has(name + ending) ? [[encoding, readFileSync(join(folder, name + ending))]] : [],
    )
    const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 16)
    const path = `/${name.split(sep).join('/')}`
    return [[path, { type, etag, bodies: new Map([...packed, ['identity', plain]]) }]]
  })
  return { writtenAt: at, files: new Map(files) }
}

function writtenAt(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs
}
