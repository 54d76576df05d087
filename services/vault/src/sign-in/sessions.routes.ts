import { z } from 'zod'
import type { AuditLog } from '../audit/audit.ts'
import { apiError, forbidden } from '../errors.ts'
import { idParams, OK, ok, time, uuid } from '../http/fields.ts'
import { adminEndpoint, endpoints } from '../http/surface.ts'
import { SESSION_MS, type Sessions } from './sessions.ts'
import type { SignIns } from './sign-ins.ts'

const session = z
  .strictObject({
    id: uuid,
    actor: z
      .string()
      .meta({ description: 'As in the audit log: administrator, administrator:<id> or oidc:<subject>.' }),
    name: z.string().meta({ description: 'A name from the provider, which is not verified, or that of the token.' }),
    roles: z.array(z.string()).meta({ description: 'Each is a role, or a role and its projects: editor:shop,blog.' }),
    createdAt: time,
    expiresAt: time,
  })
  .meta({ id: 'Session', description: 'A session of an administrator.' })

const endpoint = endpoints<{ sessions: Sessions; signIns: SignIns | undefined; audit: AuditLog }>()

/** Sessions of administrators. */
export const sessionEndpoints = [
  endpoint({
    tag: 'administration',
    access: 'anyone',
    limit: 'none',
    method: 'GET',
    path: '/v1/sign-in',
    operationId: 'describeSignIn',
    summary: 'Get the ways to sign in, in addition to tokens',
    answer: z
      .strictObject({
        oidc: z
          .strictObject({
            label: z.string(),
            url: z.string().meta({ description: 'Where a browser starts: it is redirected to the provider.' }),
          })
          .nullable()
          .meta({ description: 'null without OIDC_ISSUER.' }),
        hasSession: z.boolean().meta({ description: 'The request has the cookie of a session, which may have ended.' }),
      })
      .meta({ id: 'SignInOptions' }),
    handle: ({ caller }, { signIns }) =>
      Promise.resolve({
        oidc: signIns === undefined ? null : { label: signIns.label, url: '/v1/sign-in/start' },
        hasSession: caller.hasSession,
      }),
  }),
  endpoint({
    ...adminEndpoint,
    method: 'POST',
    path: '/v1/admin/session',
    operationId: 'signIn',
    summary: 'Begin a session with the token of the request, for pages of the vault; it ends with the token',
    answer: ok,
    handle: async ({ caller }, { sessions }) => {
      const { token } = caller
      if (token === undefined) throw forbidden(caller.actor, '')
      token.requireOwnPage()
      token.remember(await sessions.beginWithToken(caller, token), SESSION_MS)
      return OK
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/session',
    operationId: 'signOut',
    summary: 'End the session of the request',
    answer: ok.extend({
      signOutUrl: z.string().nullable().meta({ description: 'Where the person can sign out of the provider.' }),
    }),
    errors: ['not_found'],
    handle: async ({ caller }, { sessions, signIns }) => {
      if (caller.session === undefined) throw apiError('not_found')
      await sessions.end(caller.session.id, caller)
      caller.session.clear()
      const hasProvider = caller.actor.startsWith('oidc:')
      const url = hasProvider ? await signIns?.signOutUrl(caller.session.signedOutUrl) : undefined
      return { ...OK, signOutUrl: url?.href ?? null }
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'GET',
    path: '/v1/admin/sessions',
    operationId: 'listSessions',
    summary: 'List sessions that have not ended',
    answer: z.array(session),
    handle: async ({ caller }, { sessions, audit }) => {
      const listed = await sessions.list()
      await audit.noteRead(caller, { what: 'sessions' })
      return listed.map((each) => ({
        ...{ id: each.id, actor: each.actor, name: each.name, roles: [...each.roles] },
        ...{ createdAt: each.createdAt.toISOString(), expiresAt: each.expiresAt.toISOString() },
      }))
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/sessions',
    operationId: 'endSessions',
    summary: 'End all sessions immediately, with ADMIN_TOKEN',
    answer: ok,
    handle: async ({ caller }, { sessions }) => {
      await sessions.endAll(caller)
      return OK
    },
  }),
  endpoint({
    ...adminEndpoint,
    method: 'DELETE',
    path: '/v1/admin/sessions/:id',
    operationId: 'endSession',
    summary: 'End a session immediately',
    params: idParams,
    answer: ok,
    errors: ['not_found'],
    handle: async ({ params, caller }, { sessions }) => {
      await sessions.end(params.id, caller)
      return OK
    },
  }),
]
