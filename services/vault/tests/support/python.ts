import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installPackages, requireProgram } from '@vault-and-tracker/dev-env'

const PACKAGE = 'python3-cryptography'

/** Finds a Python with the package cryptography. Only Debian's Python finds Debian's package. */
export async function requirePython(): Promise<string> {
  const python = await requireProgram('python3')
  if (await hasCryptography(python)) return python
  if (!(await hasCryptography('/usr/bin/python3')))
    await installPackages([PACKAGE], `${PACKAGE} is not installed: sudo apt-get install ${PACKAGE}.`)
  return '/usr/bin/python3'
}

function hasCryptography(python: string): Promise<boolean> {
  return promisify(execFile)(python, ['-c', 'import cryptography']).then(
    () => true,
    () => false,
  )
}
