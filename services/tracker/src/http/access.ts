/** Who may call an endpoint. `moderator` includes administrators. */
export type Access = 'anyone' | 'member' | 'moderator' | 'admin'

/** Which limit an endpoint counts against. */
export type LimitKind = 'read' | 'write' | 'authentication'

/** Whether a role opens an access level. */
export function mayAccess(role: 'member' | 'moderator' | 'admin', access: Access): boolean {
  const rank = { anyone: 0, member: 1, moderator: 2, admin: 3 }
  return rank[role] >= rank[access]
}

/**
 * Whether a request that changes something may have been made by another site with the user's cookie.
 *
 * Browsers say where a request comes from in Sec-Fetch-Site, older ones in Origin. Clients that are not browsers send
 * neither, and have no cookie of another user.
 *
 * @param ownOrigin scheme, host and port of PUBLIC_URL
 */
export function isCrossSite(
  headers: { secFetchSite: string | undefined; origin: string | undefined },
  ownOrigin: string,
): boolean {
  if (headers.secFetchSite !== undefined)
    return headers.secFetchSite !== 'same-origin' && headers.secFetchSite !== 'none'
  return headers.origin !== undefined && headers.origin !== ownOrigin
}
