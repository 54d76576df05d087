import { readFileSync } from 'node:fs'

/** What runs: the version of the package, and the commit that the image was built from, where that is known. */
export type Build = { readonly service: string; readonly version: string; readonly revision: string }

/**
 * Reads the version of a service from its package.json.
 *
 * @param manifest where that file is
 * @param revision the commit; `unknown` where the image was built without it
 */
export function readBuild(service: string, manifest: URL, revision: string): Build {
  const { version = 'unknown' } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }
  return { service, version, revision }
}
