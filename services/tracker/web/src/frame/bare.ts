/** The pages for visitors, which have no bar. */
export const BARE: ReadonlySet<string> = new Set(['/login', '/setup', '/register', '/reset', '/confirm-email'])
