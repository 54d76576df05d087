import { MutationCache, QueryCache, QueryClient, type QueryClientConfig } from '@tanstack/react-query'
import { ApiError, isSignedOut } from '../api/error.ts'

const MAX_RETRIES = 2

/** Whether to repeat a failed read. A request that the server refused would be refused again. */
export function retryUnlessRefused(failures: number, error: unknown): boolean {
  return failures < MAX_RETRIES && (!(error instanceof ApiError) || error.status >= 500)
}

/**
 * The cache of an application.
 *
 * @param onSignedOut called when the server answers 401, unless the mutation has `meta: { isSignIn: true }`
 */
export function createQueries(
  onSignedOut: (request: 'query' | 'mutation') => void,
  defaults?: NonNullable<QueryClientConfig['defaultOptions']>['queries'],
): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isSignedOut(error)) onSignedOut('query')
      },
    }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _result, _mutation, { meta }) => {
        if (isSignedOut(error) && meta?.['isSignIn'] !== true) onSignedOut('mutation')
      },
    }),
    defaultOptions: { queries: { retry: retryUnlessRefused, ...defaults } },
  })
}

/** Starts reads that a page needs, so that its code and its data load together. The page shows failures. */
export function preload(...reads: readonly Promise<unknown>[]): void {
  for (const read of reads) read.catch(() => undefined)
}
