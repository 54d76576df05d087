// Installs the programs that read exported secrets.
import { requireProgram } from '../../dev-env/src/processes/programs.mjs'

export default async function setup() {
  // A missing program only fails the tests that use it.
  for (const program of ['fish', 'zsh', 'openssl', 'python3', 'python-dotenv'])
    await requireProgram(program).catch((/** @type {unknown} */ error) => console.error(String(error)))
}
