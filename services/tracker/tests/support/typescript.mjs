// Lets a child process of a test run TypeScript sources: `node --import ./typescript.mjs --conditions=source file.ts`.
import { readFileSync } from 'node:fs'
import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { transformSync } from '@swc/core'

if (isMainThread) register(import.meta.url)

export function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  })
  return { format: 'module', source: code, shortCircuit: true }
}
