import { type Command, defineAction } from '@vault-and-tracker/service-kit/command'
import type { OpenApiDocument } from './document.ts'

/** The command `openapi` of a service: it writes the service's OpenAPI document to standard output. */
export function openApiCommand(describeApi: () => OpenApiDocument): Command {
  return {
    name: 'openapi',
    actions: defineAction({
      summary: 'Writes the OpenAPI document of this service to standard output.',
      inputs: {},
      run: (_input, { stdout }) => {
        stdout.write(`${JSON.stringify(describeApi(), undefined, 2)}\n`)
        return Promise.resolve(0)
      },
    }),
  }
}
