import { readFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { parse } from 'yaml'
import { z } from 'zod'

// Definitions of indexers as Prowlarr and Jackett read them: their schema (version 11), the structure of a definition like
// ours, and their templates.

const SCHEMA = new URL('../fixtures/cardigann-v11.json', import.meta.url)
/** Without formats, because the structure below checks the URLs. */
const ajv = new Ajv2019({ allErrors: true, strict: false, validateFormats: false })
const isValid = ajv.compile(JSON.parse(readFileSync(SCHEMA, 'utf8')))

const text = z.string().min(1)
const inputs = z.record(text, z.union([z.string(), z.number()]))
const field = z.strictObject({
  selector: text,
  attribute: text.optional(),
  optional: z.boolean().optional(),
  filters: z.array(z.strictObject({ name: text, args: text })).optional(),
})
export type Field = z.infer<typeof field>

const DEFINITION = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  ...{ name: text, description: text, language: z.literal('en-US'), encoding: z.literal('UTF-8') },
  type: z.enum(['private', 'semi-private']),
  requestDelay: z.number().positive(),
  links: z.tuple([z.url().endsWith('/')]),
  caps: z.strictObject({
    categorymappings: z.array(z.strictObject({ id: z.int(), cat: text, desc: text })),
    modes: z.strictObject({
      search: z.array(z.literal('q')),
      'tv-search': z.array(z.enum(['q', 'season', 'ep', 'imdbid', 'tvdbid', 'tmdbid'])),
      'movie-search': z.array(z.enum(['q', 'imdbid', 'tmdbid', 'year'])),
      'music-search': z.array(z.enum(['q', 'album', 'artist', 'year'])),
      'book-search': z.array(z.enum(['q', 'title', 'author', 'year'])),
    }),
    allowtvsearchimdb: z.boolean(),
  }),
  settings: z.array(
    z.strictObject({ name: text, type: z.enum(['text', 'info']), label: text, default: text.optional() }),
  ),
  login: z.strictObject({
    ...{ path: text, method: z.literal('get'), inputs },
    error: z.array(z.strictObject({ selector: text, message: z.strictObject({ selector: text, attribute: text }) })),
  }),
  search: z.strictObject({
    paths: z.tuple([z.strictObject({ path: text, response: z.strictObject({ type: z.literal('xml') }) })]),
    ...{ inputs, rows: z.strictObject({ selector: text }), fields: z.record(text, field) },
  }),
})
export type Definition = z.infer<typeof DEFINITION>

/** Reads a definition. Throws if it violates the schema or does not have the required structure. */
export function readDefinition(yaml: string): Definition {
  const definition: unknown = parse(yaml)
  if (!isValid(definition)) throw new Error(ajv.errorsText(isValid.errors))
  return DEFINITION.parse(definition)
}

/** The values of templates by their names, such as `.Query.Q`. Missing ones are empty. */
export type Variables = Readonly<Record<string, string | readonly string[]>>

/** The query string of a request, in which every template is filled in. */
export function queryOf(templates: z.infer<typeof inputs>, variables: Variables): string {
  const query = new URLSearchParams()
  for (const [name, template] of Object.entries(templates)) query.set(name, fill(String(template), variables))
  return String(query)
}

function fill(template: string, variables: Variables): string {
  const valueOf = (name: string): string => String(variables[name] ?? '')
  return template
    .replace(/\{\{ join (\S+) "(.*?)" \}\}/g, (_, name: string, by: string) => [variables[name] ?? []].flat().join(by))
    .replace(
      /\{\{ if eq (\S+) "(.*?)" \}\}(.*?)\{\{ else \}\}(.*?)\{\{ end \}\}/g,
      (_, name: string, wanted: string, yes: string, no: string) => (valueOf(name) === wanted ? yes : no),
    )
    .replace(/\{\{ (\.\S+) \}\}/g, (_, name: string) => valueOf(name))
}
