import { z } from 'zod'
import { type Factors, MAX_FACTORS } from '../factors/factors.ts'
import { idParams, text, time } from '../http/fields.ts'
import { endpoints, type SignedInUser } from '../surface.ts'
import { openSession, password, signIn } from './accounts.routes.ts'
import type { Accounts } from './accounts.ts'
import type { MailLinks } from './mail-links.ts'
import type { Sessions } from './sessions.ts'

export const factorKind = z.enum(['totp', 'security-key'])

const factor = z
  .object({ id: z.string(), kind: factorKind, name: z.string(), created: time, lastUsed: time.nullable() })
  .meta({ id: 'SecondFactor' })

const base64url = z
  .string()
  .max(8_192)
  .regex(/^[\w-]+$/, 'must be base64url')
const descriptor = z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) })

/** Options for `navigator.credentials.get`, as `PublicKeyCredential.parseRequestOptionsFromJSON` reads them. */
export const requestOptions = z
  .object({
    rpId: z.string(),
    challenge: z.string(),
    timeout: z.int(),
    userVerification: z.literal('preferred'),
    allowCredentials: z.array(descriptor),
  })
  .meta({ id: 'SecurityKeyRequest' })

const creationOptions = z
  .object({
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    challenge: z.string(),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
    timeout: z.int(),
    attestation: z.literal('none'),
    excludeCredentials: z.array(descriptor),
    authenticatorSelection: z.object({ residentKey: z.literal('preferred'), userVerification: z.literal('preferred') }),
  })
  .meta({ id: 'SecurityKeyCreation' })

const code = text({ min: 1, max: 64 }).meta({ description: 'code of an authenticator app, or a recovery code' })

/** A second factor that a user presents. */
export const proof = z.union([
  z.strictObject({ code }),
  z.strictObject({
    securityKey: z
      .object({
        id: base64url,
        response: z.object({ clientDataJSON: base64url, authenticatorData: base64url, signature: base64url }),
      })
      .meta({ description: 'the JSON of the credential that the browser returned; further members are ignored' }),
  }),
])

const newCredential = z
  .object({
    id: base64url,
    response: z.object({
      clientDataJSON: base64url,
      attestationObject: base64url,
      transports: z
        .array(z.string().regex(/^[\w-]{1,20}$/))
        .max(10)
        .optional(),
    }),
  })
  .meta({ description: 'the JSON of the credential that the browser created; further members are ignored' })

const recoveryCodes = z
  .array(z.string())
  .meta({ description: 'shown only once; each finishes one sign-in. Empty unless this is the first factor' })

const endpoint = endpoints<{ accounts: Accounts; factors: Factors; mailLinks: MailLinks; sessions: Sessions }>()
/** Confirmations prove what only the requester was given, so they are no attempts. */
const change = { ...signIn, access: 'account', body: z.object({ password }) } as const

/** The user's own second factors, and their removal by administrators. */
export const factorEndpoints = [
  endpoint({
    tag: 'accounts',
    method: 'GET',
    limit: 'read',
    access: 'account',
    path: '/api/user/factors',
    operationId: 'listSecondFactors',
    summary: 'List your second factors, oldest first, and the number of your unused recovery codes',
    answer: z.object({
      items: z.array(factor),
      recoveryCodes: z.int(),
      isRequired: z.boolean().meta({ description: 'whether your role requires one' }),
    }),
    handle: async ({ caller }, { factors }) => {
      const { items, ...rest } = await factors.overview(caller.session.account)
      return {
        items: items.map(({ createdAt, lastUsedAt, ...named }) => ({
          ...named,
          created: createdAt,
          lastUsed: lastUsedAt,
        })),
        ...rest,
      }
    },
  }),
  endpoint({
    ...change,
    path: '/api/user/factors/totp',
    operationId: 'startTotp',
    summary: 'Start adding an authenticator app; the secret is shown only once',
    status: 200,
    answer: z.object({ secret: z.string().meta({ description: 'Base32' }), uri: z.string() }),
    handle: async ({ body, caller }, { accounts, factors }) => {
      const { account, id } = await confirmed(caller, body.password, accounts)
      return factors.startTotp(account, id)
    },
  }),
  endpoint({
    ...change,
    limit: 'write',
    path: '/api/user/factors/totp/confirm',
    operationId: 'confirmTotp',
    summary: 'Add the authenticator app with its current code; ends all your sessions and starts a new one here',
    body: z.object({ code: text({ min: 1, max: 20 }) }),
    status: 201,
    answer: z.object({ recoveryCodes }),
    errors: ['CONFLICT'],
    handle: async ({ body, caller }, { factors, sessions }) => {
      const { account, id } = caller.session
      const { sessionEpoch, recoveryCodes } = await factors.confirmTotp(account, id, body.code)
      await openSession({ ...account, sessionEpoch }, caller, sessions, true)
      return { recoveryCodes }
    },
  }),
  endpoint({
    ...change,
    path: '/api/user/factors/security-key',
    operationId: 'startSecurityKey',
    summary: 'Start adding a security key; returns options for `navigator.credentials.create`',
    status: 200,
    answer: creationOptions,
    handle: async ({ body, caller }, { accounts, factors }) => {
      const { account, id } = await confirmed(caller, body.password, accounts)
      return factors.startSecurityKey(account, id)
    },
  }),
  endpoint({
    ...change,
    limit: 'write',
    path: '/api/user/factors/security-key/confirm',
    operationId: 'confirmSecurityKey',
    summary: `Add the security key, one of at most ${MAX_FACTORS} factors; ends all your sessions and starts a new one here`,
    body: z.object({ name: text({ min: 1, max: 60 }), credential: newCredential }),
    status: 201,
    answer: z.object({ recoveryCodes }),
    errors: ['CONFLICT'],
    handle: async ({ body, caller }, { factors, sessions }) => {
      const { account, id } = caller.session
      const { sessionEpoch, recoveryCodes } = await factors.confirmSecurityKey(account, id, body.name, body.credential)
      await openSession({ ...account, sessionEpoch }, caller, sessions, true)
      return { recoveryCodes }
    },
  }),
  endpoint({
    ...change,
    path: '/api/user/factors/recovery-codes',
    operationId: 'renewRecoveryCodes',
    summary: 'Replace your recovery codes',
    status: 200,
    answer: z.object({ recoveryCodes }),
    errors: ['CONFLICT'],
    handle: async ({ body, caller }, { accounts, factors }) => {
      const { account } = await confirmed(caller, body.password, accounts)
      return { recoveryCodes: await factors.renewCodes(account) }
    },
  }),
  endpoint({
    ...change,
    path: '/api/user/factors/:id/remove',
    operationId: 'removeSecondFactor',
    summary: 'Remove one of your second factors; ends all your sessions and starts a new one here',
    params: idParams,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, body, caller }, { accounts, factors, sessions }) => {
      const { account } = await confirmed(caller, body.password, accounts)
      const { sessionEpoch, isLast } = await factors.remove(account, params.id)
      // Without a factor, no session was opened with one.
      await openSession({ ...account, sessionEpoch }, caller, sessions, caller.session.isStrong && !isLast)
    },
  }),
  endpoint({
    ...change,
    tag: 'users',
    access: 'admin',
    path: '/api/admin/users/:id/factors/remove',
    operationId: 'removeUserFactors',
    summary: 'Remove all second factors of a user, who is notified; ends all their sessions. Needs your own password',
    params: idParams,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ params, body, caller }, { accounts, factors, mailLinks }) => {
      const { account: administrator } = await confirmed(caller, body.password, accounts)
      const account = await accounts.byId(params.id)
      await factors.removeAll(account.id, administrator)
      mailLinks.tellFactorsRemoved(account)
    },
  }),
]

/** The session of a user who has given their password again. @throws ApiError FORBIDDEN if it is wrong */
async function confirmed(
  { session }: SignedInUser,
  given: string,
  accounts: Accounts,
): Promise<SignedInUser['session']> {
  await accounts.confirmPassword(session.account, given)
  return session
}
