import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { readOnly } from '@vault-and-tracker/service-kit/http/conditional-get'
import { Router } from 'express'
import { type Content, contentSecurityPolicy, createContent, sendContent } from './content.ts'
import type { OpenApiDocument } from './openapi.ts'

const require = createRequire(import.meta.url)

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
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
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

/** How long browsers cache the files of Swagger UI. */
const FILES = 'public, max-age=604800'
/** The document may change with every deployment. */
const DOCUMENT = 'no-cache'

/**
 * The document at `/openapi.json`, and a page at `/docs` that shows it without requests to other hosts. Both are public, so
 * each body is made and compressed once, at its first request.
 *
 * @param options `methodNotAllowed` creates the error for methods other than GET and HEAD; `Allow` is set already
 */
export function documentRoutes(describeApi: () => OpenApiDocument, options: { methodNotAllowed: () => Error }): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const styles = require.resolve('swagger-ui-dist/swagger-ui.css')
  const script = require.resolve('swagger-ui-dist/swagger-ui-bundle.js')
  const serve = (path: string, type: string, cacheControl: string, load: () => string | Promise<Buffer>): void => {
    // A promise, so that requests that arrive together share the work.
    let loading: Promise<Content> | undefined
    router.all(path, readOnly(options.methodNotAllowed), async (request, response) => {
      loading ??= Promise.resolve(load())
        .then((body) => createContent(type, body))
        .catch((error: unknown) => {
          loading = undefined
          throw error
        })
      const content = await loading
      response.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': cacheControl })
      sendContent(request, response, content)
    })
  }
  serve('/openapi.json', 'application/json', DOCUMENT, () => JSON.stringify(describeApi()))
  serve('/docs', 'text/html', DOCUMENT, () => page(String(describeApi().info['title'])))
  serve('/docs/start.js', 'text/javascript', DOCUMENT, () => START)
  serve('/docs/swagger-ui.css', 'text/css', FILES, () => readFile(styles))
  serve('/docs/swagger-ui-bundle.js', 'text/javascript', FILES, () => readFile(script))
  return router
}
