import { readFile } from 'node:fs/promises'

/** Reads a certificate with its chain, and its private key. @throws Error naming the file that cannot be read */
export async function readCertificate(files: { readonly cert: string; readonly key: string }) {
  const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)])
  return { cert, key }
}
