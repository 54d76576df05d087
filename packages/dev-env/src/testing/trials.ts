/**
 * How many times more cases the long trials run, and whether the longest of them run at all: TRIALS=10 is ten times as many.
 * The nightly workflow sets it.
 */
export const TRIALS = Number(process.env['TRIALS'] ?? 1)
