import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { workspaceFolders } from './dependencies.mjs'
import { ROOT } from './paths.mjs'

/** Compiles what changed since the last time. */
export async function build() {
  const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', 'tsconfig.build.json']
  // The compiler trusts its notes and does not see that somebody deleted what it wrote.
  const complete = workspaceFolders().every((folder) => existsSync(join(ROOT, folder, 'dist')))
  await run(process.execPath, complete ? args : [...args, '--force'], { cwd: ROOT })
}
