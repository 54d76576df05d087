/** The paths that `healthRoutes` of service-kit serves in both services, as OpenAPI describes them. */
const json = (schema: object) => ({ 'application/json': { schema } })
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

export const operationalPaths = {
  '/health': {
    get: {
      operationId: 'health',
      summary: 'The process runs; nothing else is asked',
      tags: ['operations'],
      security: [],
      responses: { 200: { description: 'It runs', content: json(ok) }, ...malformed },
    },
  },
  '/ready': {
    get: {
      operationId: 'ready',
      summary: 'The service can do its work now; not ready from the first moment of a stop',
      tags: ['operations'],
      security: [],
      responses: {
        200: { description: 'Ready', content: json(readiness) },
        503: { description: 'Not ready; the checks name what failed', content: json(readiness) },
        ...malformed,
      },
    },
  },
  '/metrics': {
    get: {
      operationId: 'metrics',
      summary: 'Metrics in the Prometheus text format',
      tags: ['operations'],
      security: [],
      responses: { 200: { description: 'The metrics', content: { 'text/plain': {} } }, ...malformed },
    },
  },
} as const
