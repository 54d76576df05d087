export {
  type AccessOf,
  type DefineEndpoint,
  type Description,
  type Endpoint,
  endpointsOf,
  FileAnswer,
  JsonText,
  type Method,
  StreamAnswer,
  type Surface,
  type Upload,
} from './endpoint.ts'
export { createErrorHandler, type ErrorSurface } from './errors.ts'
export { EXPORT_FORMATS, EXPORT_TYPES, exportFile } from './export.ts'
export { type InputProblem, parseInput, readQuery } from './input.ts'
export { type DocumentOptions, type OpenApiDocument, openApiCommand, openApiDocument } from './openapi.ts'
export { documentRoutes } from './openapi-page.ts'
export { type Around, type Guard, type ReadBody, type Serving, serve } from './serve.ts'
export { type Look, webApplication } from './web-application.ts'
