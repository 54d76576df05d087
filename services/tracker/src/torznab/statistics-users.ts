/**
 * Sets of users, exact and small: every user of the API has a number, and bit `n` of a set stands for the user with the
 * number `n`. Ten thousand users are 1,250 bytes, and how many different users several hours had is counted in
 * microseconds.
 */
export type UserSet = Uint8Array

/**
 * A set with more users in it.
 *
 * @returns the same set where all of them were in it
 */
export function withUsers(set: UserSet, numbers: readonly number[]): UserSet {
  if (numbers.every((number) => has(set, number))) return set
  const bytes = numbers.reduce((length, number) => Math.max(length, (number >> 3) + 1), set.length)
  const larger = new Uint8Array(bytes)
  larger.set(set)
  for (const number of numbers) larger[number >> 3] = (larger[number >> 3] ?? 0) | (1 << (number & 7))
  return larger
}

/** How many different users are in at least one of the sets. */
export function countUsers(sets: readonly UserSet[]): number {
  const union = new Uint8Array(sets.reduce((length, set) => Math.max(length, set.length), 0))
  for (const set of sets) for (let i = 0; i < set.length; i++) union[i] = (union[i] ?? 0) | (set[i] ?? 0)
  let count = 0
  for (let byte of union) for (; byte !== 0; byte &= byte - 1) count++
  return count
}

function has(set: UserSet, number: number): boolean {
  return ((set[number >> 3] ?? 0) & (1 << (number & 7))) !== 0
}
