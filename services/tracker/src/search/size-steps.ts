import type { AnyOf } from './criteria.ts'

/** The smallest sizes of the steps of the index except the first: powers of two from 1 MiB to 1 TiB. */
const STEPS = Array.from({ length: 21 }, (_, power) => 2 ** (20 + power))

/** The same for the fine steps, eight in each of the steps except the first and the last. */
const FINE = 8
const FINE_STEPS = STEPS.flatMap((size, i) =>
  Array.from({ length: i === STEPS.length - 1 ? 1 : FINE }, (_, part) => size + (size / FINE) * part),
)

/** Bytes, inclusive. */
export type SizeRange = { readonly minSize: number; readonly maxSize: number }

/** The terms of the index for the sizes in a range, and for few other sizes. */
export function sizeTerms({ minSize, maxSize }: SizeRange): AnyOf {
  return numbers(stepOf(STEPS, minSize), stepOf(STEPS, maxSize)).flatMap((step) => {
    const [first, end] = [STEPS[step - 1], STEPS[step]]
    if (first === undefined || end === undefined || (minSize <= first && maxSize >= end - 1)) return [`#z${step}`]
    const [from, to] = [Math.max(minSize, first), Math.min(maxSize, end - 1)]
    return numbers(stepOf(FINE_STEPS, from), stepOf(FINE_STEPS, to)).map((fine) => `#f${fine}`)
  })
}

/** The whole steps in a range, which contain no other sizes, and the ends of the range. */
export function sizeParts({ minSize, maxSize }: SizeRange): {
  whole: readonly SizeRange[]
  ends: readonly SizeRange[]
} {
  const edges = STEPS.filter((step) => step > minSize && step <= maxSize)
  const whole = edges.slice(1).map((edge, i) => ({ minSize: edges[i] ?? 0, maxSize: edge - 1 }))
  const [first, last] = [edges[0], edges.at(-1)]
  if (first === undefined || last === undefined) return { whole, ends: [{ minSize, maxSize }] }
  return {
    whole,
    ends: [
      { minSize, maxSize: first - 1 },
      { minSize: last, maxSize },
    ],
  }
}

/** The number of a step, from 0. */
function stepOf(steps: readonly number[], size: number): number {
  return steps.filter((step) => step <= size).length
}

function numbers(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
}
