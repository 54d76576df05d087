import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { oneOf, pageIn, type RawSearch } from '@vault-and-tracker/web-kit/address'
import { preload } from '@vault-and-tracker/web-kit/start'
import { rootRoute } from '../frame/root-route.tsx'
import { noticeList } from './queries.ts'

type NoticeSearch = { tab?: 'unread' | 'settings' | undefined; page?: number | undefined }

export const noticeRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/notices',
    validateSearch: (raw: RawSearch): NoticeSearch => ({
      tab: oneOf(raw, 'tab', ['unread', 'settings']),
      page: pageIn(raw),
    }),
    loaderDeps: ({ search }) => search,
    loader: ({ context: { queries }, deps: { tab, page } }) => {
      if (tab !== 'settings') preload(queries.query(noticeList(tab === 'unread', page)))
    },
    component: lazyRouteComponent(() => import('./notices-page.tsx'), 'NoticesPage'),
  }),
] as const
