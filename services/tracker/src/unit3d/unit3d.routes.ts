import { endpointsOf, FileAnswer, type Serving, serve } from '@vault-and-tracker/rest'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { MAX_EXTERNAL_ID } from '@vault-and-tracker/torznab-xml'
import { Router } from 'express'
import { z } from 'zod'
import { apiError } from '../errors.ts'
import { description, mediaInfo, nfo, torrentName } from '../http/torrent-fields.ts'
import { torrentFileHeaders } from '../http/torrent-file-headers.ts'
import { MAX_NFO_BYTES } from '../releases/nfo.ts'
import type { SignedInUser } from '../surface.ts'
import { MAX_TORRENT_BYTES } from '../torrents/torrent-file.ts'
import { type NumberedTorrent, torrentResource, userResource } from './attributes.ts'
import { markdownOf } from './bbcode.ts'
import { readFilter, wholeNumber } from './filter.ts'
import { downloadPath } from './links.ts'
import { tokenOf, type Unit3dSurface } from './unit3d.guard.ts'
import type { Unit3d } from './unit3d.ts'
import { createUnit3dErrorAnswer } from './unit3d-errors.middleware.ts'

const torrentNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)
const numberParams = z.object({ number: torrentNumber })

/** An id that tools send as `0`, or not as a number, if they do not know it. */
const externalId = z
  .string()
  .optional()
  .transform((id) => wholeNumber(id?.replace(/^tt/, ''), MAX_EXTERNAL_ID) ?? null)
const mark = z
  .string()
  .optional()
  .transform((value) => value === '1' || value === 'true')
/** An absent text is empty. */
const optionalText = <Schema extends z.ZodType<unknown, string>>(schema: Schema) => z.string().default('').pipe(schema)

/** The query as received, because tools repeat parameters. */
const rawQuery = z.object({ raw: z.string() })

const endpoint = endpointsOf<Unit3dSurface, { unit3d: Unit3d }>()
const common = { tag: 'unit3d', summary: 'See UNIT3D', limit: 'read', access: 'token' } as const

/**
 * The parts of UNIT3D's API that uploading tools and dashboards use, below a path. Each has the scope of the operation that
 * it is named after.
 */
const apiBelow = (root: '' | '/unit3d') => [
  endpoint({
    ...common,
    method: 'POST',
    path: `${root}/api/torrents/upload`,
    operationId: 'uploadTorrent',
    limit: 'write',
    upload: {
      field: 'torrent',
      maxBytes: MAX_TORRENT_BYTES,
      attachments: { nfo: MAX_NFO_BYTES },
      maxFields: 40,
    },
    // Forks of UNIT3D have many more fields.
    body: z.looseObject({
      name: torrentName,
      category_id: z.string().transform((number) => wholeNumber(number, 999_999) ?? 0),
      description: optionalText(z.string().transform(markdownOf).pipe(description)),
      mediainfo: optionalText(mediaInfo),
      bdinfo: optionalText(mediaInfo),
      nfo: optionalText(nfo),
      imdb: externalId,
      tmdb: externalId,
      tvdb: externalId,
      anonymous: mark,
      internal: mark,
      scene: mark,
    }),
    answer: z.object({ success: z.boolean(), data: z.string(), message: z.string() }),
    handle: async ({ body, file, caller }, { unit3d }) => {
      if (file === undefined) throw apiError('BAD_REQUEST', 'torrent: send the .torrent file in this field.')
      const { name, anonymous, internal, scene, imdb, tmdb, tvdb } = body
      const number = await unit3d.upload(caller.session.account, body.category_id, {
        ...{ bytes: file, name, anonymous, internal, scene },
        externalIds: { imdb, tmdb, tvdb },
        description: body.description,
        nfo: body.nfo,
        mediaInfo: body.mediainfo ?? body.bdinfo,
        // Tools have searched for duplicates themselves, and cannot send a reason.
        duplicateReason: null,
        refuseDuplicate: false,
      })
      const data = `${unit3d.publicUrl}${downloadPath(number, caller.session)}`
      return { success: true, data, message: 'Torrent uploaded successfully.' }
    },
  }),
  // Unit3Dup lists with a slash at the end.
  ...['filter', ''].map((name) =>
    endpoint({
      ...common,
      method: 'GET',
      path: `${root}/api/torrents/${name}`,
      operationId: 'listTorrents',
      query: rawQuery,
      answer: z.unknown(),
      handle: async ({ query, caller }, { unit3d }) => {
        const filter = readFilter(query.raw)
        const { items, hasMore } = await unit3d.filter(caller.session.account, filter)
        const all = await unit3d.categories()
        const { page, limit } = filter.list
        const pageAt = (at: number): string =>
          `${unit3d.publicUrl}${root}/api/torrents/filter?${pageQuery(query.raw, at)}`
        const before = (page - 1) * limit
        return {
          data: items.map((item) => torrentResource(item, all, linksOf(unit3d.publicUrl, item, caller))),
          links: {
            first: pageAt(1),
            last: null,
            prev: page === 1 ? null : pageAt(page - 1),
            next: hasMore ? pageAt(page + 1) : null,
            self: pageAt(page),
          },
          meta: { current_page: page, per_page: limit, from: before + 1, to: before + items.length },
        }
      },
    }),
  ),
  endpoint({
    ...common,
    method: 'GET',
    path: `${root}/api/torrents/:number`,
    operationId: 'getTorrent',
    params: numberParams,
    answer: z.unknown(),
    handle: async ({ params, caller }, { unit3d }) => {
      const found = await unit3d.find(params.number, caller.session.account)
      return torrentResource(found, await unit3d.categories(), linksOf(unit3d.publicUrl, found, caller))
    },
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: `${root}/api/user`,
    operationId: 'getOwnUser',
    answer: z.unknown(),
    handle: async ({ caller }, { unit3d }) => userResource(await unit3d.figures(caller.session.account)),
  }),
]

const linkedEndpoints = [
  endpoint({
    ...common,
    access: 'link',
    method: 'GET',
    path: '/unit3d/torrent/download/:file',
    operationId: 'downloadTorrent',
    params: z.object({
      file: z
        .string()
        .transform((file) => file.replace(/\.torrent$/, ''))
        .pipe(torrentNumber),
    }),
    answerTypes: ['application/x-bittorrent'],
    handle: async ({ params, caller }, { unit3d }) => {
      const { name, bytes } = await unit3d.download(params.file, caller.session.account, caller.session.id)
      return new FileAnswer(bytes, torrentFileHeaders(name))
    },
  }),
  endpoint({
    ...common,
    // Tools print this address after an upload.
    access: 'session',
    method: 'GET',
    path: '/unit3d/torrents/:number',
    operationId: 'getTorrent',
    params: numberParams,
    status: 302,
    answerTypes: [],
    handle: async ({ params, caller }, { unit3d }) => {
      const id = await unit3d.visibleId(params.number, caller.session.account)
      return new FileAnswer(Buffer.alloc(0), { Location: `/torrents/${id}` })
    },
  }),
]

const OWN_PATH = /^\/api\/(user|torrents\/(upload|filter))$/
/** Ids of the REST API are never only digits. */
const NUMBER_OR_LIST = /^\/api\/torrents\/\d*$/

/**
 * UNIT3D's API at the address of the site, of which some tools take only the host, and below `/unit3d`, as in earlier site
 * entries. Numbers without a token are left to the REST API, which the web application asks with a session.
 */
export function unit3dRoutes(unit3d: Unit3d, serving: Serving<Unit3dSurface>, logger: Logger): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const atRoot = serve(apiBelow(''), { unit3d }, serving)
  router.use((request, response, next) => {
    const { path } = request
    const isOurs = OWN_PATH.test(path) || (NUMBER_OR_LIST.test(path) && tokenOf(request) !== undefined)
    if (isOurs) atRoot(request, response, next)
    else next()
  })
  router.use(serve([...apiBelow('/unit3d'), ...linkedEndpoints], { unit3d }, serving))
  router.use('/unit3d', () => {
    throw apiError('NOT_FOUND')
  })
  router.use(createUnit3dErrorAnswer(logger))
  return router
}

function linksOf(publicUrl: string, { number, torrent }: NumberedTorrent, { session }: SignedInUser) {
  return { details: `${publicUrl}/torrents/${torrent.id}`, download: `${publicUrl}${downloadPath(number, session)}` }
}

/** The query of another page. The token is left out, because clients send it with each request anyway. */
function pageQuery(raw: string, page: number): string {
  const query = new URLSearchParams(raw)
  query.delete('api_token')
  query.set('page', String(page))
  return query.toString()
}
