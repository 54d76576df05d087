import { printable } from '../commands/terminal.ts'

/** The ways secrets are printed. */
export const FORMATS = ['json', 'dotenv', 'docker', 'shell', 'fish', 'yaml', 'github-actions', 'k8s'] as const
export type Format = (typeof FORMATS)[number]

/** Names that a shell accepts as a variable; others could smuggle in a command. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** @throws Unfit when a reader of the format would not take the key for a variable */
export function variable(key: string): string {
  if (!VARIABLE.test(key)) throw unfit(key, 'is not a valid variable name')
  return key
}

/** @throws Unfit: no environment holds a null byte */
export function withoutNull(key: string, value: string): string {
  if (value.includes('\0')) throw unfit(key, 'contains a null byte')
  return value
}

/** A secret that a format cannot hold, and why. */
export class Unfit extends Error {
  override readonly name = 'Unfit'
}

export function unfit(key: string, why: string): Unfit {
  return new Unfit(`${printable(JSON.stringify(key))} ${why}`)
}
