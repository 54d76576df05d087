import { type Request, Router } from 'express'
import { z } from 'zod'
import { jsonBody, methods, pathPart, readBody } from '../http.ts'
import { OVERLAP_MS } from './project-keys.ts'
import { PROJECT_NAME, type Project, type Projects } from './projects.ts'

/** Any other type than a string is an invalid key, not a malformed request. */
const publicKey = z
  .custom<unknown>((key) => key !== undefined, 'is required')
  .transform((key) => (typeof key === 'string' ? key : ''))
  .meta({ type: 'string', description: '64 hex digits, or a JWK as a JSON string' })

/** The body of POST /v1/admin/projects. */
export const createBody = z.strictObject({
  name: z
    .string()
    .regex(PROJECT_NAME, 'must be 1 to 63 letters, digits, dots, dashes and underscores, the first a letter or digit'),
  publicKey,
  requireContentDigest: z.boolean().default(false),
})

/** The body of PUT /v1/admin/projects/:id/rotate, which may be absent. `overlap` is in seconds. */
export const rotateBody = z.strictObject({
  publicKey: publicKey.optional(),
  overlap: z
    .int()
    .min(0)
    .max(OVERLAP_MS / 1000)
    .default(OVERLAP_MS / 1000),
})

/** The body of PATCH /v1/admin/projects/:id. */
export const updateBody = z.strictObject({ requireContentDigest: z.boolean() })

/** What administrators do with projects. The token is checked before. */
export function projectRoutes(deps: { projects: Projects; addressOf: (request: Request) => string }): Router {
  const { projects, addressOf } = deps
  const router = Router({ caseSensitive: true, strict: true })

  router.all(
    '/v1/admin/projects',
    methods({
      GET: async (_request, response) => {
        response.json((await projects.list()).map(present))
      },
      POST: async (request, response) => {
        const body = jsonBody(request, await readBody(request, response), createBody)
        await projects.create({ ...body, ip: addressOf(request) })
        response.status(201).json({ ok: true, id: body.name })
      },
    }),
  )

  router.all(
    '/v1/admin/projects/:id',
    methods({
      PATCH: async (request, response) => {
        const body = jsonBody(request, await readBody(request, response), updateBody)
        const change = { name: pathPart(request, 'id'), required: body.requireContentDigest, ip: addressOf(request) }
        await projects.setRequireContentDigest(change)
        response.json({ ok: true })
      },
      DELETE: async (request, response) => {
        await projects.remove({ name: pathPart(request, 'id'), ip: addressOf(request) })
        response.json({ ok: true })
      },
    }),
  )

  router.all(
    '/v1/admin/projects/:id/rotate',
    methods({
      PUT: async (request, response) => {
        const body = jsonBody(request, await readBody(request, response), rotateBody)
        const rotated = await projects.rotate({
          name: pathPart(request, 'id'),
          publicKey: body.publicKey,
          overlapMs: body.overlap * 1000,
          ip: addressOf(request),
        })
        response.json({ ok: true, ...rotated })
      },
    }),
  )
  return router
}

function present({ requireContentDigest, ...project }: Project) {
  return requireContentDigest ? { ...project, requireContentDigest } : project
}
