import type { SwarmName } from './swarm.ts'

/** All keys of a swarm and of its accounting begin with its tag, so that they share a slot of a Redis Cluster. */
export const TAGS = 256

/** The tag of a swarm is its first byte: 1/256 of all swarms have the same. */
export function tagOf(name: SwarmName): number {
  return name[0] ?? 0
}

/** What the keys of a tag begin with: `{xx}:`. */
export function tagPrefix(tag: number): string {
  return `{${tag.toString(16).padStart(2, '0')}}:`
}
