import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type RequestHandler, Router } from 'express'
import type { OpenApiDocument } from './document.ts'

const require = createRequire(import.meta.url)
const compress = promisify(gzip)

/** Only what we serve ourselves is loaded. Swagger UI sets styles on elements and draws icons from data URLs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const page = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript. The document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
})
`

/** How long a browser keeps the files of Swagger UI, and how long before it asks whether they changed. */
const FILES = 'public, max-age=604800'
/** The document may be another one after every deployment. */
const DOCUMENT = 'no-cache'

/**
 * The document at `/openapi.json`, and at `/docs` a page that shows it without requests to other hosts. Anybody may ask
 * for them, so each content is read and compressed once, at its first request, and cached by browsers.
 *
 * @param options `methodNotAllowed` makes the error for other methods than GET and HEAD; `Allow` is set already
 */
export function documentRoutes(document: OpenApiDocument, options: { methodNotAllowed: () => Error }): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const title = String(document.info['title'])
  const styles = require.resolve('swagger-ui-dist/swagger-ui.css')
  const script = require.resolve('swagger-ui-dist/swagger-ui-bundle.js')
  const serve = (path: string, type: string, cacheControl: string, load: () => string | Promise<Buffer>): void => {
    router.get(path, answer(type, cacheControl, load))
    router.all(path, (_request, response) => {
      response.setHeader('Allow', 'GET, HEAD')
      throw options.methodNotAllowed()
    })
  }
  serve('/openapi.json', 'application/json', DOCUMENT, () => JSON.stringify(document))
  serve('/docs', 'text/html', DOCUMENT, () => page(title))
  serve('/docs/start.js', 'text/javascript', DOCUMENT, () => START)
  serve('/docs/swagger-ui.css', 'text/css', FILES, () => readFile(styles))
  serve('/docs/swagger-ui-bundle.js', 'text/javascript', FILES, () => readFile(script))
  return router
}

/** A content as it is sent: as it is, and for nearly every client compressed to a quarter (RFC 1952). */
type Content = { readonly plain: Buffer; readonly compressed: Buffer; readonly etag: string }

async function prepare(load: () => string | Promise<Buffer>): Promise<Content> {
  const plain = Buffer.from(await load())
  const hash = createHash('sha256').update(plain).digest('base64url')
  // A weak tag: both forms of the content have it (RFC 9110 section 8.8.1).
  return { plain, compressed: await compress(plain, { level: 9 }), etag: `W/"${hash.slice(0, 27)}"` }
}

function answer(type: string, cacheControl: string, load: () => string | Promise<Buffer>): RequestHandler {
  let prepared: Promise<Content> | undefined
  return async (request, response) => {
    prepared ??= prepare(load).catch((error: unknown) => {
      prepared = undefined
      throw error
    })
    const { plain, compressed, etag } = await prepared
    response.set({
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Security-Policy': POLICY,
      'Cache-Control': cacheControl,
      ETag: etag,
      Vary: 'Accept-Encoding',
    })
    if (request.fresh) {
      response.status(304).end()
      return
    }
    const isCompressed = request.acceptsEncodings('gzip', 'identity') === 'gzip'
    if (isCompressed) response.setHeader('Content-Encoding', 'gzip')
    const bytes = isCompressed ? compressed : plain
    response.setHeader('Content-Length', bytes.length)
    response.end(bytes)
  }
}
