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
  '/health': get('health', 'The process runs; nothing else is asked', {
    200: { description: 'It runs', content: content(ok) },
  }),
  '/ready': get('ready', 'The service can do its work now; not ready from the first moment of a stop', {
    200: { description: 'Ready', content: content(readiness) },
    503: { description: 'Not ready; the checks name what failed', content: content(readiness) },
  }),
  '/metrics': get('metrics', 'Metrics in the Prometheus text format', {
    200: { description: 'The metrics', content: { 'text/plain': {} } },
  }),
}
