import { z } from 'zod'
import { apiError } from '../errors.ts'
import { endpoints } from '../surface.ts'
import {
  email,
  newPassword,
  openSession,
  ownUser,
  password,
  presentOwnUser,
  signIn,
  username,
} from './accounts.routes.ts'
import type { Accounts } from './accounts.ts'
import { factorKind, proof, requestOptions } from './factors.routes.ts'
import type { Sessions } from './sessions.ts'
import type { SignIns } from './sign-ins.ts'

const endpoint = endpoints<{
  accounts: Accounts
  sessions: Sessions
  signIns: SignIns
  announceUrl: (passkey: string) => string
}>()

/** Registration and sign-in. */
export const signInEndpoints = [
  endpoint({
    ...signIn,
    path: '/api/auth/register',
    operationId: 'register',
    summary: 'Create an account and sign in',
    access: 'anyone',
    body: z.object({ username, email, password: newPassword, invite: z.string().max(200).optional() }),
    status: 201,
    answer: ownUser,
    errors: ['FORBIDDEN', 'CONFLICT'],
    handle: async ({ body, caller }, { accounts, sessions, announceUrl }) => {
      const account = await accounts.register(body)
      await openSession(account, caller, sessions, false)
      return presentOwnUser(account, announceUrl)
    },
  }),
  endpoint({
    ...signIn,
    path: '/api/auth/login',
    operationId: 'signIn',
    summary: 'Sign in; sets the cookie `session`, or `pending` if the account has a second factor',
    access: 'anyone',
    body: z.object({ username: z.string().max(254), password }),
    status: 200,
    answer: ownUser,
    errors: ['UNAUTHORIZED', 'SECOND_FACTOR_REQUIRED', 'FORBIDDEN'],
    handle: async ({ body, caller }, { signIns, sessions, announceUrl }) => {
      const begun = await signIns.begin(body.username, body.password)
      if ('pending' in begun) {
        caller.setPending(begun.pending)
        throw apiError('SECOND_FACTOR_REQUIRED', 'Finish signing in with your second factor.')
      }
      await openSession(begun.account, caller, sessions, false)
      return presentOwnUser(begun.account, announceUrl)
    },
  }),
  endpoint({
    tag: 'accounts',
    method: 'GET',
    limit: 'read',
    access: 'anyone',
    path: '/api/auth/second-factor',
    operationId: 'getSecondFactorMethods',
    summary: 'List the factors that finish the sign-in of the `pending` cookie; a recovery code always does',
    answer: z.object({
      kinds: z.array(factorKind),
      securityKey: requestOptions.optional().meta({ description: 'options for `navigator.credentials.get`' }),
    }),
    errors: ['CONFLICT'],
    handle: ({ caller }, { signIns }) => signIns.methods(caller.pending),
  }),
  endpoint({
    ...signIn,
    limit: 'second-factor',
    path: '/api/auth/second-factor',
    operationId: 'finishSignIn',
    summary: 'Finish a sign-in with a code from an app, a recovery code or a security key; sets the `session` cookie',
    access: 'anyone',
    body: proof,
    status: 200,
    answer: ownUser,
    errors: ['UNAUTHORIZED', 'FORBIDDEN', 'CONFLICT'],
    handle: async ({ body, caller }, { signIns, sessions, announceUrl }) => {
      const account = await signIns.finish(caller.pending, body)
      await openSession(account, caller, sessions, true)
      return presentOwnUser(account, announceUrl)
    },
  }),
]
