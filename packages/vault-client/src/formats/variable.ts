import { printable } from '../commands/terminal.ts'

export const FORMATS = ['json', 'dotenv', 'docker', 'shell', 'fish', 'yaml', 'github-actions', 'k8s'] as const
export type Format = (typeof FORMATS)[number]

/** Names that shells accept for variables. Other names could inject a command. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** @throws Unfit if the key is not a variable name in the format */
export function variable(key: string): string {
  if (!VARIABLE.test(key)) throw unfit(key, 'is not a valid variable name')
  return key
}

/** @throws Unfit if the value contains a null byte, which environment variables cannot contain */
export function withoutNull(key: string, value: string): string {
  if (value.includes('\0')) throw unfit(key, 'contains a null byte')
  return value
}

/** A secret that a format cannot represent. */
export class Unfit extends Error {
  override readonly name = 'Unfit'
}

export function unfit(key: string, why: string): Unfit {
  return new Unfit(`${printable(JSON.stringify(key))} ${why}`)
}
