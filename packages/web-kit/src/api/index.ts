export { createApi, read } from './client.ts'
export { ApiError, isSignedOut } from './error.ts'
