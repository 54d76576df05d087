/** The pages for visitors, which have no bar. */
export const BARE: ReadonlySet<string> = new Set(['/login', '/register', '/reset', '/confirm-email'])
