import { z } from 'zod'
import { endpoints } from '../surface.ts'
import { email, newPassword, password, signIn } from './accounts.routes.ts'
import type { Accounts } from './accounts.ts'
import type { MailLinks } from './mail-links.ts'

const token = z.string().regex(/^[\w-]{43}$/, 'must be the token of a link')

const endpoint = endpoints<{ accounts: Accounts; mailLinks: MailLinks }>()

/** Password resets and confirmations of addresses by email, for sites that send email. */
export const mailLinkEndpoints = [
  endpoint({
    ...signIn,
    limit: 'mail',
    access: 'anyone',
    path: '/api/auth/password-link',
    operationId: 'requestPasswordLink',
    summary: 'Request a password reset link by email; the response is the same for unknown addresses',
    body: z.object({ email }),
    status: 204,
    errors: ['CONFLICT'],
    handle: ({ body }, { mailLinks }) => {
      mailLinks.requestPassword(body.email)
      return Promise.resolve()
    },
  }),
  endpoint({
    ...signIn,
    access: 'anyone',
    path: '/api/auth/password',
    operationId: 'resetOwnPassword',
    summary: 'Set a new password with the token of a link; ends all sessions, and keeps second factors',
    body: z.object({ token, password: newPassword }),
    status: 204,
    errors: ['CONFLICT'],
    handle: ({ body }, { mailLinks }) => mailLinks.resetPassword(body.token, body.password),
  }),
  endpoint({
    ...signIn,
    access: 'account',
    path: '/api/user/email',
    operationId: 'requestEmailLink',
    summary: 'Change your email address; it changes when you open the link that is sent to it',
    body: z.object({ email, password }),
    status: 204,
    errors: ['CONFLICT'],
    handle: async ({ body, caller }, { accounts, mailLinks }) => {
      await accounts.confirmPassword(caller.session.account, body.password)
      mailLinks.requestEmail(caller.session.account, body.email)
    },
  }),
  endpoint({
    ...signIn,
    access: 'anyone',
    path: '/api/auth/email',
    operationId: 'confirmEmail',
    summary: 'Confirm an email address with the token of a link',
    body: z.object({ token }),
    status: 204,
    errors: ['CONFLICT'],
    handle: ({ body }, { mailLinks }) => mailLinks.confirmEmail(body.token),
  }),
]
