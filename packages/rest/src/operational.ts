const content = (schema: object) => ({ 'application/json': { schema } })
const ok = { type: 'object', properties: { ok: { const: true } }, required: ['ok'] }
const readiness = {
  type: 'object',
  properties: {
    ok: { type: 'boolean' },
    checks: { type: 'object', additionalProperties: { enum: ['ok', 'failed'] } },
  },
  required: ['ok', 'checks'],
}
const malformed = { '4XX': { description: 'The message is not HTTP/1.1, or its headers are too large' } }

const get = (operationId: string, summary: string, responses: object) => ({
  get: { operationId, summary, tags: ['operations'], security: [], responses: { ...responses, ...malformed } },
})

/** The paths that `healthRoutes` of service-kit serves in both services, as OpenAPI describes them. */
export const operationalPaths = {
  '/health': get('health', 'Check that the process is running', {
    200: { description: 'The process is running', content: content(ok) },
  }),
  '/ready': get('ready', 'Check that the service and its dependencies work; fails once the service starts to stop', {
    200: { description: 'Ready', content: content(readiness) },
    503: { description: 'Not ready; `checks` lists the failed checks', content: content(readiness) },
  }),
  '/metrics': get('metrics', 'Get metrics in the Prometheus text format', {
    200: { description: 'The metrics', content: { 'text/plain': {} } },
  }),
}
