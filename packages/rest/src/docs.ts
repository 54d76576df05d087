import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readOnly } from '@vault-and-tracker/service-kit/reading'
import { type RequestHandler, Router } from 'express'
import { type Content, contentSecurityPolicy, sendContent } from './content.ts'
import type { OpenApiDocument } from './document.ts'

const require = createRequire(import.meta.url)
const compress = promisify(gzip)

/** Swagger UI sets styles on elements and draws icons from data URLs. */
const POLICY = contentSecurityPolicy({ 'style-src': "'self' 'unsafe-inline'", 'img-src': "'self' data:" })

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
    router.all(path, readOnly(options.methodNotAllowed), answer(`${type}; charset=utf-8`, cacheControl, load))
  }
  serve('/openapi.json', 'application/json', DOCUMENT, () => JSON.stringify(document))
  serve('/docs', 'text/html', DOCUMENT, () => page(title))
  serve('/docs/start.js', 'text/javascript', DOCUMENT, () => START)
  serve('/docs/swagger-ui.css', 'text/css', FILES, () => readFile(styles))
  serve('/docs/swagger-ui-bundle.js', 'text/javascript', FILES, () => readFile(script))
  return router
}

/** A content as it is, and for nearly every client compressed to a quarter (RFC 1952). */
async function prepare(type: string, load: () => string | Promise<Buffer>): Promise<Content> {
  const plain = Buffer.from(await load())
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 27)
  const bodies = new Map([
    ['gzip', await compress(plain, { level: 9 })],
    ['identity', plain],
  ])
  return { type, digest, bodies }
}

function answer(type: string, cacheControl: string, load: () => string | Promise<Buffer>): RequestHandler {
  let prepared: Promise<Content> | undefined
  return async (request, response) => {
    prepared ??= prepare(type, load).catch((error: unknown) => {
      prepared = undefined
      throw error
    })
    const content = await prepared
    response.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': cacheControl })
    sendContent(request, response, content)
  }
}
