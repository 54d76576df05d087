import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { ownUser } from '../api/queries.ts'
import { rootRoute } from '../frame/root-route.tsx'
import { sectionsFor } from './sections.ts'

/** The route above all staff pages. Members get the page for unknown addresses. */
export const adminRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin',
  beforeLoad: async ({ context, location }) => {
    const { role } = await context.queries.query(ownUser)
    const section = location.pathname.split('/', 3).filter(Boolean).join('/')
    const isOpen = sectionsFor(role).some(({ to }) => to === `/${section}`)
    if (!isOpen) notFound({ throw: true })
  },
  component: lazyRouteComponent(() => import('./staff-frame.tsx'), 'StaffFrame'),
})
