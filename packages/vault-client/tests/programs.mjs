// The programs that read what the client writes.
import { requireProgram } from '../../dev-env/src/processes/programs.mjs'

export default async function setup() {
  // Without it only the tests that use it fail.
  for (const program of ['fish', 'zsh', 'openssl', 'python3', 'python-dotenv'])
    await requireProgram(program).catch((/** @type {unknown} */ error) => console.error(String(error)))
}
