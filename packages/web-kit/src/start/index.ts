export { renderApplication } from './render-application.tsx'
export { retryUnlessRefused } from './retry.ts'
export { ROUTER_DEFAULTS } from './router-defaults.ts'
