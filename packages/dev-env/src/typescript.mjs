// `node --import <this file> file.ts` runs TypeScript sources of the workspace without a build. swc strips the types, and the
// export condition `source` resolves packages of the workspace to their sources. Threads inherit it.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
