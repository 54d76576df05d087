/** For links to a tab or a range: without it the router takes every link as current whose parameters are a part of the address. */
export const EXACT = { exact: true, includeSearch: true, explicitUndefined: true } as const
