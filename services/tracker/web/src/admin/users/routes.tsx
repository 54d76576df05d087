import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { oneOf, type RawSearch } from '@vault-and-tracker/web-kit/address'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { started } from '../../api/queries.ts'
import { adminRoute } from '../admin-route.tsx'
import { oneUser, userList } from './queries.ts'
import { readUsersSearch } from './search.ts'

const TABS = ['sessions', 'invites', 'history'] as const
/** The tabs of a user behind the first, the account. */
export type UserTab = (typeof TABS)[number]

/** The users, and one of them. */
export const userRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/users',
    validateSearch: readUsersSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => started(context.queries.query(userList(deps))),
    component: lazyRouteComponent(() => import('./users-page.tsx'), 'UsersPage'),
  }),
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/users/$id',
    validateSearch: (raw: RawSearch): { tab?: UserTab | undefined } => ({ tab: oneOf(raw, 'tab', TABS) }),
    loader: async ({ context, params }) => {
      await context.queries.query(oneUser(params.id)).catch((error: unknown) => {
        throw error instanceof ApiError && error.status === 404 ? notFound() : error
      })
    },
    component: lazyRouteComponent(() => import('./user-page.tsx'), 'UserPage'),
  }),
] as const
