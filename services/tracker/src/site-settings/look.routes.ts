import { allowReading, isReading } from '@vault-and-tracker/service-kit/http/conditional-get'
import type { RequestHandler } from 'express'
import { manifestOf, markIn } from './look.ts'
import type { SiteConfiguration } from './site-settings.ts'

const FOREVER = 'public, max-age=31536000, immutable'
const LOGO = /^\/logo-([0-9a-f]{32})\.png$/
const ICON = /^\/icon-([0-9a-f]{6})\.svg$/

type LookFile = { readonly type: string; readonly body: Buffer | string; readonly cacheControl?: string }

/**
 * Serves the files that show the look of the site to everyone: the manifest, the logo, and the designed mark in an accent
 * colour. The headers of REST responses keep them from being more than pictures and data.
 *
 * @param mark reads the designed mark, an SVG file; undefined if the web application is not built
 */
export function lookFiles(
  site: Pick<SiteConfiguration, 'look' | 'logo'>,
  mark: () => string | undefined,
): RequestHandler {
  async function find(path: string): Promise<LookFile | undefined> {
    if (path === '/manifest.webmanifest')
      return { type: 'application/manifest+json', body: JSON.stringify(manifestOf(await site.look())) }
    const [, digest] = LOGO.exec(path) ?? []
    const png = digest === undefined ? undefined : await site.logo(digest)
    if (png !== undefined) return { type: 'image/png', body: png, cacheControl: FOREVER }
    const [, accent] = ICON.exec(path) ?? []
    const svg = accent === undefined ? undefined : mark()
    if (svg === undefined) return undefined
    return { type: 'image/svg+xml', body: markIn(`#${accent ?? ''}`, svg), cacheControl: FOREVER }
  }

  return async (request, response, next) => {
    const file = await find(request.path)
    if (file === undefined) next()
    else if (isReading(request)) {
      response.set({ 'Content-Type': file.type, 'Cache-Control': file.cacheControl ?? 'no-cache' }).send(file.body)
    } else {
      allowReading(response)
      response.status(405).end()
    }
  }
}
