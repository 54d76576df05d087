export { EXACT } from './exact.ts'
export { PagePending } from './page-pending.tsx'
export { ThemeButton } from './theme-button.tsx'
export { useFocusOnNewPage } from './use-focus-on-new-page.ts'
