import type { Serving } from '@vault-and-tracker/rest'
import { apiError } from '../errors.ts'
import type { ReadRequestBody } from './body.ts'
import type { TrackerSurface } from './surface.ts'

/** How the tracker reads and guards requests. */
export function servingWith(options: {
  guards: Serving<TrackerSurface>['guards']
  readBody: ReadRequestBody
}): Serving<TrackerSurface> {
  return {
    guards: options.guards,
    readQuery: (request) => request.query,
    readBody: options.readBody,
    malformed: ({ name, problem }) =>
      apiError('BAD_REQUEST', name === '' ? 'The body is malformed.' : `${name}: ${sentence(problem)}`),
    notFound: () => apiError('NOT_FOUND'),
    methodNotAllowed: () => apiError('METHOD_NOT_ALLOWED', 'This path exists, but not with this method.'),
    answersHead: true,
    guardsMethods: () => false,
  }
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}
