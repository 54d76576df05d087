export { createApi, createRead, read } from './client.ts'
export { ApiError, isSignedOut } from './error.ts'
