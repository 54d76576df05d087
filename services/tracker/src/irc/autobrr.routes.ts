import { FileAnswer } from '@vault-and-tracker/rest'
import { apiError } from '../errors.ts'
import { endpoints } from '../surface.ts'
import { autobrrDefinition, type IrcSite } from './autobrr.ts'

/** The definition of this site for autobrr. It contains nothing that the sign-in page does not show. */
export const autobrrEndpoints = [
  endpoints<{
    /** Undefined without an IRC listener. */
    ircSite: () => Promise<IrcSite | undefined>
  }>()({
    tag: 'site',
    access: 'anyone',
    limit: 'read',
    method: 'GET',
    path: '/autobrr.yaml',
    operationId: 'getAutobrrDefinition',
    summary: 'Get a definition of this site for the custom definitions of autobrr',
    answerTypes: ['application/yaml'],
    errors: ['NOT_FOUND'],
    handle: async (_input, { ircSite }) => {
      const site = await ircSite()
      if (site === undefined) throw apiError('NOT_FOUND', 'This site does not announce on IRC.')
      return new FileAnswer(Buffer.from(autobrrDefinition(site)), { 'Content-Type': 'application/yaml' })
    },
  }),
]
