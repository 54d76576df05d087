import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { apiError } from '../errors.ts'
import { type BoundEndpoint, bind, type Caller, sessionOf } from '../rest/endpoint.routes.ts'
import { accountApi, presentOwnUser } from './account-api.routes.ts'
import type { Account, Accounts } from './accounts.ts'
import type { Invite, Invites } from './invites.ts'
import type { Sessions } from './sessions.ts'
import { type ActivityStore, ratio, statsVisibility } from './stats.ts'

/** The endpoints of signing up, signing in, and one's own account. */
export function accountRoutes(deps: {
  accounts: Accounts
  sessions: Sessions
  invites: Invites
  activity: ActivityStore
  /** A peer that did not announce for this long has gone. */
  peerTtlMs: number
  announceUrl: (passkey: string) => string
  clock: Clock
}): readonly BoundEndpoint[] {
  const { accounts, sessions, invites, activity, clock } = deps
  const present = (account: Account) => presentOwnUser(account, deps.announceUrl(account.passkey))
  const startSession = async (account: Account, caller: Caller): Promise<void> => {
    caller.setSession(await sessions.open(account, caller))
  }

  return [
    bind(accountApi.register, async ({ body, caller }) => {
      const account = await accounts.register(body)
      await startSession(account, caller)
      return present(account)
    }),
    bind(accountApi.login, async ({ body, caller }) => {
      const account = await accounts.authenticate(body.username, body.password)
      await startSession(account, caller)
      return present(account)
    }),
    bind(accountApi.logout, async ({ caller }) => {
      await sessions.close(sessionOf(caller))
      caller.clearSession()
    }),
    bind(accountApi.listSessions, async ({ caller }) => {
      const own = sessionOf(caller)
      const open = await sessions.list(own.account)
      return {
        items: open.map(({ id, createdAt, lastSeenAt, address, userAgent }) => ({
          id,
          created: new Date(createdAt).toISOString(),
          lastSeen: new Date(lastSeenAt).toISOString(),
          address,
          userAgent,
          current: id === own.id,
        })),
      }
    }),
    bind(accountApi.endSessions, async ({ caller }) => {
      await accounts.endSessions(sessionOf(caller).account.id)
      caller.clearSession()
    }),
    bind(accountApi.endSession, async ({ params, caller }) => {
      const { account, id } = sessionOf(caller)
      if (!(await sessions.end(account, params.id))) throw apiError('NOT_FOUND', 'There is no such session.')
      if (params.id === id) caller.clearSession()
    }),
    bind(accountApi.me, ({ caller }) => Promise.resolve(present(sessionOf(caller).account))),
    bind(accountApi.changeMe, async ({ body, caller }) =>
      present(await accounts.setStatsPublic(sessionOf(caller).account.id, body.statsPublic)),
    ),
    bind(accountApi.changePassword, async ({ body, caller }) => {
      const { account } = sessionOf(caller)
      const changed = await accounts.changePassword(account, body.currentPassword, body.newPassword)
      await startSession(changed, caller)
    }),
    bind(accountApi.resetPasskey, async ({ caller }) =>
      present(await accounts.resetPasskey(sessionOf(caller).account.id)),
    ),
    bind(accountApi.stats, async ({ params, caller }) => {
      const user = await accounts.byId(params.id)
      const { id, username, uploaded, downloaded, uploadedActual, downloadedActual } = user
      const visible = statsVisibility(user, sessionOf(caller).account)
      if (visible === 'nothing') return { id, username }
      const totals = { id, username, uploaded, downloaded, ratio: ratio(uploaded, downloaded) }
      if (visible === 'totals') return totals
      const taken = await activity.countForUser(id, new Date(clock.now() - deps.peerTtlMs))
      return { ...totals, uploadedActual, downloadedActual, ...taken }
    }),
    bind(accountApi.listInvites, async ({ caller }) => {
      const made = await invites.listBy(sessionOf(caller).account.id)
      return { items: made.map(presentInvite) }
    }),
    bind(accountApi.createInvite, async ({ caller }) => {
      const { invite, code } = await invites.create(sessionOf(caller).account)
      return { ...presentInvite(invite), code }
    }),
  ]
}

function presentInvite(invite: Invite) {
  return {
    id: invite.id,
    created: invite.createdAt.toISOString(),
    expires: invite.expiresAt.toISOString(),
    used: invite.usedAt?.toISOString() ?? null,
    usedBy: invite.usedBy,
  }
}
