import { createOpenapi } from '../../src/openapi.ts'

type Operation = { readonly responses?: Readonly<Record<string, { readonly description: string }>> }

const operations = Object.entries(createOpenapi().paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    responses: (operation as Operation).responses ?? {},
  })),
)

/** The codes of an operation's errors, as openapi.json describes them. */
export function errorsOf(operation: unknown): string[] {
  const { responses = {} } = operation as Operation
  return Object.entries(responses).flatMap(([status, { description }]) =>
    Number(status) < 400 ? [] : description.split(', '),
  )
}

/** Fails where the vault answered with what openapi.json does not have for the operation. */
export function requireDocumented(method: string, url: string, answer: { status: number; body: unknown }): void {
  const { pathname } = new URL(url)
  const operation = operations.find((each) => each.method === method && each.pattern.test(pathname))
  if (operation === undefined) return
  const { status, body } = answer
  const code = status < 400 ? 'Success' : (body as { error?: string } | undefined)?.error
  const described = operation.responses[status]?.description.split(', ') ?? []
  if (!described.includes(String(code)))
    throw new Error(`openapi.json does not say that ${method} ${pathname} answers ${String(status)} ${String(code)}`)
}
