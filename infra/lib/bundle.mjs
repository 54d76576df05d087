import { readFileSync, rmSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { ROOT } from './workspace.mjs'

const OWN = '@vault-and-tracker/'
/** The name of the module that starts the command. */
const START = 'start'

/**
 * Writes what `npm publish` uploads of a package to its folder `lib`: each entry as an ES module and for CommonJS, with
 * its types. Packages of the workspace are part of the files, other dependencies are imported.
 *
 * @param {string} folder the package
 */
export async function bundleLibrary(folder) {
  /** @type {{ exports: Record<string, { source: string }>, bin?: object }} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entries = Object.fromEntries(
    Object.values(manifest.exports).map(({ source }) => [source.replace(/^.*\/(.*)\.ts$/, '$1'), join(folder, source)]),
  )
  const programs = manifest.bin === undefined ? {} : { cli: join(folder, 'src/cli.ts') }
  const options = {
    external: (/** @type {string} */ id) => !id.startsWith('.') && !isAbsolute(id) && !id.startsWith(OWN),
    platform: /** @type {const} */ ('neutral'),
    resolve: { conditionNames: ['source', 'import'] },
    tsconfig: false,
  }
  const dir = join(folder, 'lib')
  rmSync(dir, { recursive: true, force: true })
  const types = await rolldown({
    ...options,
    input: entries,
    plugins: [dts({ emitDtsOnly: true, tsconfig: join(folder, 'tsconfig.build.json'), resolver: 'tsc' })],
  })
  for (const [format, end] of /** @type {const} */ ([
    ['esm', 'js'],
    ['cjs', 'cjs'],
  ])) {
    const names = { dir, entryFileNames: `[name].${end}`, chunkFileNames: `chunks/[name].${end}` }
    const code = await rolldown({ ...options, input: format === 'esm' ? { ...entries, ...programs } : entries })
    await code.write({ ...names, format, sourcemap: true })
    await types.write({ ...names, format: 'esm' })
  }
}

/**
 * Writes the `vault` command with all its dependencies to one CommonJS file.
 *
 * @param {string} file
 * @param {string} version
 */
export async function bundleCommand(file, version) {
  const main = join(ROOT, 'packages/vault-client/src/commands/main.ts')
  const modules = await rolldown({
    input: START,
    platform: 'node',
    resolve: { conditionNames: ['source', 'node', 'import'] },
    tsconfig: false,
    plugins: [
      {
        name: START,
        resolveId: (id) => (id === START ? id : undefined),
        load: (id) =>
          id === START
            ? `import { main } from ${JSON.stringify(main)}\nvoid main(${JSON.stringify(version)})`
            : undefined,
      },
    ],
  })
  await modules.write({ file, format: 'cjs', minify: true, codeSplitting: false, banner: '#!/usr/bin/env node' })
}
