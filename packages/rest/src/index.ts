export { FileAnswer, JsonText } from './answer.ts'
export { openApiCommand } from './command.ts'
export { documentRoutes } from './docs.ts'
export { type DocumentOptions, type OpenApiDocument, openApiDocument } from './document.ts'
export {
  type AccessOf,
  type DefineEndpoint,
  type Description,
  type Endpoint,
  endpointsOf,
  type Method,
  type Surface,
  type Upload,
} from './endpoint.ts'
export { createErrorHandler, type ErrorSurface } from './errors.ts'
export type { InputProblem } from './input.ts'
export { runMiddleware } from './middleware.ts'
export { readQuery } from './query.ts'
export { type Around, type Guard, type ReadBody, type Serving, serve } from './serve.ts'
export { webApplication } from './web-application.ts'
