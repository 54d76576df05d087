import { readFileSync } from 'node:fs'

/**
 * The files in lua/ that make up each library, without `.lua`. They form one chunk, so a file sees the local names of
 * the files before it.
 */
const LIBRARIES = {
  swarm: ['swarm/swarm', 'swarm/announce', 'swarm/functions'],
  accounting: ['accounting'],
  background: ['background'],
  torznab: ['torznab'],
} as const

/** A library of functions for Redis. */
export type LibraryName = keyof typeof LIBRARIES

/** The Lua source of a library. lua/ is next to src/ and dist/. */
export function readLibrary(name: LibraryName): string {
  return LIBRARIES[name]
    .map((file) => readFileSync(new URL(`../../lua/${file}.lua`, import.meta.url), 'utf8'))
    .join('\n')
}
