// Lets a process run the TypeScript sources of the workspace without a build: `node --import <this file> file.ts`.
// Types are stripped by swc, and packages of the workspace resolve to their sources (the export condition `source`).
import { readFileSync } from 'node:fs'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { transformSync } from '@swc/core'

if (isMainThread) register(import.meta.url)

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, next) {
  return next(specifier, { ...context, conditions: [...context.conditions, 'source'] })
}

/** @type {import('node:module').LoadHook} */
export function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  })
  return { format: 'module', source: code, shortCircuit: true }
}
