import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type RequestHandler, Router } from 'express'
import type { OpenApiDocument } from './document.ts'

const require = createRequire(import.meta.url)

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

/** The document at `/openapi.json`, and at `/docs` a page that shows it without asking anybody else for anything. */
export function documentRoutes(document: OpenApiDocument): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const styles = readFileSync(require.resolve('swagger-ui-dist/swagger-ui.css'))
  const script = readFileSync(require.resolve('swagger-ui-dist/swagger-ui-bundle.js'))
  const text = JSON.stringify(document)
  router.get('/openapi.json', answer('application/json', text))
  router.get('/docs', answer('text/html', page(String(document.info['title']))))
  router.get('/docs/start.js', answer('text/javascript', START))
  router.get('/docs/swagger-ui.css', answer('text/css', styles))
  router.get('/docs/swagger-ui-bundle.js', answer('text/javascript', script))
  return router
}

function answer(type: string, content: string | Buffer): RequestHandler {
  return (_request, response) => {
    response.set({ 'Content-Type': `${type}; charset=utf-8`, 'Content-Security-Policy': POLICY })
    response.end(content)
  }
}
