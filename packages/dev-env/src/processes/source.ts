import { fileURLToPath } from 'node:url'

const LOADER = fileURLToPath(new URL('../typescript.mjs', import.meta.url))

/**
 * The arguments with which Node runs a TypeScript source of the workspace, without a build.
 *
 * @example
 * spawn(process.execPath, [...sourceArguments(join(root, 'services/vault/src/main.ts')), '--help'])
 */
export function sourceArguments(file: string): string[] {
  return ['--import', LOADER, file]
}
