import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import { preload } from '@vault-and-tracker/web-kit/start'
import { adminRoute } from '../admin-route.tsx'
import { managedCategories } from './queries.ts'

/** `edit` is the slug of the category whose form is open; `new` is the slug of its parent, or `root`. */
export type CategoriesSearch = { readonly edit?: string | undefined; readonly new?: string | undefined }

export const categoryRoutes = [
  createRoute({
    getParentRoute: () => adminRoute,
    path: '/categories',
    validateSearch: (raw: RawSearch): CategoriesSearch => ({ edit: textIn(raw, 'edit'), new: textIn(raw, 'new') }),
    loader: ({ context }) => preload(context.queries.query(managedCategories)),
    component: lazyRouteComponent(() => import('./categories-page.tsx'), 'CategoriesPage'),
  }),
] as const
