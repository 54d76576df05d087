import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { oneOf, type RawSearch } from '@vault-and-tracker/web-kit/address'
import { notFoundIfMissing, preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { oneUser, userList } from './queries.ts'
import { readAddressSearch, readUsersSearch } from './search.ts'

const TABS = ['sessions', 'addresses', 'tokens', 'invites', 'history'] as const
type UserSearch = { tab?: (typeof TABS)[number] | undefined }

export const userRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/users',
    validateSearch: readUsersSearch,
    loaderDeps: ({ search }) => search,
    loader: ({ context, deps }) => preload(context.queries.query(userList(deps))),
    component: lazyRouteComponent(() => import('./users-page.tsx'), 'UsersPage'),
  }),
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/users/addresses',
    validateSearch: readAddressSearch,
    component: lazyRouteComponent(() => import('./addresses-page.tsx'), 'AddressesPage'),
  }),
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/users/$id',
    validateSearch: (raw: RawSearch): UserSearch => ({ tab: oneOf(raw, 'tab', TABS) }),
    loader: ({ context, params }) => notFoundIfMissing(context.queries.query(oneUser(params.id))),
    component: lazyRouteComponent(() => import('./user-page.tsx'), 'UserPage'),
  }),
] as const
