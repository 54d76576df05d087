import { z } from 'zod'
import { endpoints } from '../surface.ts'
import { email, newPassword, openSession, ownUser, presentOwnUser, signIn, username } from './accounts.routes.ts'
import type { FirstAdministrator } from './first-administrator.ts'
import type { Sessions } from './sessions.ts'

const endpoint = endpoints<{
  firstAdministrator: FirstAdministrator
  sessions: Sessions
  announceUrl: (passkey: string) => string
}>()

/** The setup of a new site. */
export const firstAdministratorEndpoints = [
  endpoint({
    ...signIn,
    path: '/api/setup',
    operationId: 'createFirstAdministrator',
    summary: 'Create the first administrator with the code in the log of the tracker, and sign in; works once per site',
    access: 'anyone',
    body: z.object({ code: z.string().max(200), username, email, password: newPassword }),
    status: 201,
    answer: ownUser,
    errors: ['FORBIDDEN', 'CONFLICT'],
    handle: async ({ body, caller }, { firstAdministrator, sessions, announceUrl }) => {
      const account = await firstAdministrator.create(body)
      await openSession(account, caller, sessions, false)
      return presentOwnUser(account, announceUrl)
    },
  }),
]
