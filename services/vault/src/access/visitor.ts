/** A requester who is not authenticated. */
export type Visitor = { readonly kind: 'visitor' }
