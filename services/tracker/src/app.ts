import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  documentRoutes,
  type Look,
  type OpenApiDocument,
  openApiDocument,
  serve,
  webApplication,
} from '@vault-and-tracker/rest'
import { readVersion } from '@vault-and-tracker/service-kit/config/env'
import { healthRoutes } from '@vault-and-tracker/service-kit/http/health'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import express, { type Express } from 'express'
import { z } from 'zod'
import { accountEndpoints, ownUser, presentOwnUser } from './accounts/accounts.routes.ts'
import { activityEndpoints } from './accounts/activity.routes.ts'
import { factorEndpoints } from './accounts/factors.routes.ts'
import { firstAdministratorEndpoints } from './accounts/first-administrator.routes.ts'
import { mailLinkEndpoints } from './accounts/mail-links.routes.ts'
import { signInEndpoints } from './accounts/sign-ins.routes.ts'
import { userEndpoints } from './accounts/users.routes.ts'
import { addressEndpoints } from './addresses/addresses.routes.ts'
import { adminLogEndpoints } from './admin-log/admin-log.routes.ts'
import { categoryEndpoints, categoryTree, presentTree } from './categories/categories.routes.ts'
import { clientEndpoints } from './clients/clients.routes.ts'
import type { Context, UseCases } from './context.ts'
import { apiError, ERRORS } from './errors.ts'
import { eventEndpoints } from './events/events.routes.ts'
import { createErrorAnswer, errorBodySchema } from './http/errors.middleware.ts'
import { standardHeaders, unknownPath } from './http/headers.middleware.ts'
import { autobrrEndpoints } from './irc/autobrr.routes.ts'
import { noticeEndpoints } from './notices/notices.routes.ts'
import { overviewEndpoints } from './overview/overview.routes.ts'
import { ownTorrentEndpoints } from './own-torrents/own-torrents.routes.ts'
import { reportEndpoints } from './reports/reports.routes.ts'
import { reviewEndpoints } from './reviews/reviews.routes.ts'
import { rulesEndpoints } from './rules/rules.routes.ts'
import { feedEndpoints } from './saved-searches/feeds.routes.ts'
import { savedSearchEndpoints } from './saved-searches/saved-searches.routes.ts'
import { createTrackerServer, type TrackerServer } from './server.ts'
import { lookFiles } from './site-settings/look.routes.ts'
import { lookOf } from './site-settings/look.ts'
import { siteInformationEndpoints, siteSettingsEndpoints } from './site-settings/site-settings.routes.ts'
import { codesOf, endpoints, type TrackerEndpoint, type TrackerSurface } from './surface.ts'
import { swarmStatisticsEndpoints } from './swarm-statistics/swarm-statistics.routes.ts'
import { apiTokenEndpoints } from './tokens/api-tokens.routes.ts'
import { scopeOf } from './tokens/scopes.ts'
import { bookmarkEndpoints } from './torrents/bookmarks.routes.ts'
import { moderationEndpoints } from './torrents/moderation.routes.ts'
import { torrentFilterEndpoints } from './torrents/torrent-filters.routes.ts'
import { torrentPageEndpoints } from './torrents/torrent-page.routes.ts'
import { torrentEndpoints } from './torrents/torrents.routes.ts'
import { torznabAdminEndpoints, torznabUsageEndpoints } from './torznab/torznab-admin.routes.ts'
import { unit3dRoutes } from './unit3d/unit3d.routes.ts'
import { webhookEndpoints } from './webhooks/webhooks.routes.ts'

/** The first reads of the web application in one request, because each request of a phone takes long. */
const startEndpoint = endpoints<UseCases>()({
  tag: 'accounts',
  access: 'account',
  limit: 'read',
  method: 'GET',
  path: '/api/start',
  operationId: 'getStart',
  summary: 'Get what every page shows: your account, the categories and your counts',
  answer: z
    .object({
      user: ownUser,
      categories: z.array(categoryTree),
      unread: z.object({ total: z.int(), totalIsExact: z.boolean() }).meta({ description: 'your unread notices' }),
      rulesWaiting: z.boolean().meta({ description: 'whether you have to accept the current rules' }),
    })
    .meta({ id: 'Start' }),
  handle: async ({ caller }, { categories, notices, rules, announceUrl }) => {
    const { account } = caller.session
    const [all, unread, rulesWaiting] = await Promise.all([
      categories.all(),
      notices.countUnread(account.id),
      rules.isWaiting(account.id),
    ])
    return { user: presentOwnUser(account, announceUrl), categories: presentTree(all).items, unread, rulesWaiting }
  },
})

/** Every endpoint of the REST surface. */
export const ENDPOINTS: readonly TrackerEndpoint<UseCases>[] = [
  startEndpoint,
  ...signInEndpoints,
  ...firstAdministratorEndpoints,
  ...accountEndpoints,
  ...factorEndpoints,
  ...apiTokenEndpoints,
  ...mailLinkEndpoints,
  ...activityEndpoints,
  ...noticeEndpoints,
  ...ownTorrentEndpoints,
  ...torznabUsageEndpoints,
  ...siteInformationEndpoints,
  ...autobrrEndpoints,
  ...categoryEndpoints,
  // Before the torrents, whose ids are any text.
  ...torrentFilterEndpoints,
  ...torrentEndpoints,
  ...torrentPageEndpoints,
  ...eventEndpoints,
  ...bookmarkEndpoints,
  ...savedSearchEndpoints,
  ...feedEndpoints,
  ...webhookEndpoints,
  ...userEndpoints,
  ...addressEndpoints,
  ...moderationEndpoints,
  ...reviewEndpoints,
  ...reportEndpoints,
  ...rulesEndpoints,
  ...siteSettingsEndpoints,
  ...overviewEndpoints,
  ...swarmStatisticsEndpoints,
  ...clientEndpoints,
  ...torznabAdminEndpoints,
  ...adminLogEndpoints,
]

/** The OpenAPI document of the REST surface. */
export function describeApi(): OpenApiDocument {
  return openApiDocument<TrackerSurface>(ENDPOINTS, {
    title: 'Tracker',
    version: readVersion(new URL('../package.json', import.meta.url)),
    description:
      'The REST API of a private BitTorrent tracker. Announces, scrapes, Torznab and the API of UNIT3D are documented elsewhere.',
    tags: {
      accounts: 'Registration, sign-in and your own account',
      notices: 'Notices about your torrents, invites and rates',
      categories: 'The category tree',
      torrents: 'Torrents',
      'saved searches': 'Saved searches, bookmarks and their feed addresses',
      webhooks: 'URLs that receive each new torrent',
      feeds: 'Feeds of saved searches, categories and bookmarks',
      users: 'User administration',
      moderation: 'Moderation of uploaded torrents',
      rules: 'The rules of the site',
      site: 'Site-wide settings and the overview',
      swarms: 'Swarm statistics for staff',
      torznab: 'Settings and statistics of the Torznab API',
      'admin log': 'Actions of administrators and moderators',
    },
    securitySchemes: {
      session: { type: 'apiKey', in: 'cookie', name: 'session' },
      token: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API token that a member created. Operations list the scope that it needs.',
      },
      feed: { type: 'apiKey', in: 'query', name: 'token' },
    },
    security: ({ access, operationId }) => {
      if (access === 'anyone') return []
      if (access === 'feed')
        return operationId === 'downloadFromFeed'
          ? [{ feed: [] }]
          : [{ feed: [] }, { session: [] }, { token: ['torznab'] }]
      const scope = scopeOf(operationId)
      return [{ session: [] }, ...(scope === undefined ? [] : [{ token: [scope] }])]
    },
    errors: ERRORS,
    errorBody: errorBodySchema,
    codesOf,
  })
}

/**
 * The HTTP server of the tracker, not yet listening.
 *
 * @param options `stopping` aborts when the service has to stop; from then on `/ready` returns 503
 */
export function createHttpServer(context: Context, options: { logger: Logger; stopping: AbortSignal }): TrackerServer {
  return createTrackerServer(createApp(context, options), context)
}

/** The built web application, relative to both `src` and `dist`. */
const WEB_FOLDER = fileURLToPath(new URL('../web/dist', import.meta.url))
/** The first path segments of the web application's URLs. */
const WEB_PAGES = [
  ...['login', 'setup', 'register', 'reset', 'confirm-email', 'welcome', 'rules'],
  ...['torrents', 'saved', 'upload', 'me', 'notices', 'users', 'admin'],
] as const

/** The designed mark of the site. */
function readMark(): string | undefined {
  const file = join(WEB_FOLDER, 'icon.svg')
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** The REST surface: middleware in order, the endpoints, then unknown paths and errors. */
export function createApp(context: Context, { logger, stopping }: { logger: Logger; stopping: AbortSignal }): Express {
  const { useCases, rest, torznabRoutes, metrics, checks } = context
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.disable('query parser')
  app.use(metrics.middleware)
  app.use(standardHeaders)
  app.use(healthRoutes({ checks, stopping, logger, metrics: metrics.handler, methodNotAllowed }))
  app.use(torznabRoutes)
  app.use(unit3dRoutes(useCases.unit3d, rest.unit3d, logger))
  app.use(serve(ENDPOINTS, useCases, rest.serving))
  app.use(documentRoutes(describeApi, { methodNotAllowed }))
  const onMissing = (text: string): void => logger.warn(text)
  app.use(lookFiles(useCases.siteConfiguration, readMark))
  const look = async (): Promise<Look> => lookOf(await useCases.siteConfiguration.look())
  app.use(webApplication({ folder: WEB_FOLDER, pages: WEB_PAGES, onMissing, sendsForms: true, look }))
  app.use(unknownPath)
  app.use(createErrorAnswer(logger))
  return app
}

function methodNotAllowed(): Error {
  return apiError('METHOD_NOT_ALLOWED', 'This path exists, but not with this method.')
}
