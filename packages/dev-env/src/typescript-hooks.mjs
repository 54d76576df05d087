// The hooks that `typescript.mjs` registers. Node runs it in a separate thread.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transformSync } from '@swc/core'

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
