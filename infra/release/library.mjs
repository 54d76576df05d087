// Bundles the package in the current folder for npm. `pnpm pack` and `pnpm publish` run this.
import { bundleLibrary } from '../lib/bundle.mjs'

await bundleLibrary(process.cwd())
