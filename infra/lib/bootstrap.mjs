import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './build.mjs'
import { dependenciesAreCurrent, installDependencies } from './dependencies.mjs'
import { ROOT } from './paths.mjs'

/** What has to be there before anything of the project can run; on a machine that has it all, next to nothing. */
export async function bootstrap(step) {
  if (!dependenciesAreCurrent()) await step('dependencies installed', installDependencies)
  await step('built', build)
}

/** The package that knows how to run servers and services. It exists once it is built, hence no import at the top. */
export async function loadDevEnv() {
  return await import(pathToFileURL(join(ROOT, 'packages/dev-env/dist/index.js')).href)
}
