// Lets a process run the TypeScript sources of the workspace without a build: `node --import <this file> file.ts`.
// Types are stripped by swc, and packages of the workspace resolve to their sources (the export condition `source`).
// The threads of the process inherit it.
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
