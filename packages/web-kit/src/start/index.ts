export { createQueries, preload } from './queries.ts'
export { renderApplication } from './render-application.tsx'
export { notFoundIfMissing, ROUTER_DEFAULTS } from './router-defaults.ts'
export { createStore, type Store, useStore } from './store.ts'
