import fc from 'fast-check'

/** fast-check prints the seed of a failure; `FUZZ_SEED` repeats it. */
export const RUNS = {
  seed: Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31),
  numRuns: 1_000 * Number(process.env['TRIALS'] ?? 1),
}

/** Random bytes. */
export function bytes(minLength: number, maxLength = minLength): fc.Arbitrary<Buffer> {
  return fc.uint8Array({ minLength, maxLength }).map((array) => Buffer.from(array))
}
