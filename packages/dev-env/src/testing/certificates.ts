import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { requireProgram } from '../processes/programs.mjs'

/** A certificate and its private key, as files in PEM. */
export type CertificateFiles = { readonly certificate: string; readonly key: string }

const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1'

/** Creates a certificate authority in a folder. */
export async function createAuthority(folder: string, name: string): Promise<CertificateFiles> {
  return create(folder, name, '-addext basicConstraints=critical,CA:TRUE')
}

/**
 * Creates a certificate for hosts.
 *
 * @param hosts in the notation of OpenSSL: `DNS:localhost`, `IP:127.0.0.1`
 * @param issuer signs itself if left out
 */
export async function createCertificate(
  folder: string,
  name: string,
  hosts: readonly string[],
  issuer?: CertificateFiles,
): Promise<CertificateFiles> {
  const signed = issuer === undefined ? '' : ` -CA ${issuer.certificate} -CAkey ${issuer.key}`
  return create(folder, name, `-addext subjectAltName=${hosts.join(',')}${signed}`)
}

async function create(folder: string, name: string, options: string): Promise<CertificateFiles> {
  const files = { certificate: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
  const args = `req -x509 ${NEW_KEY} -subj /CN=${name} ${options} -keyout ${files.key} -out ${files.certificate}`
  execFileSync(await requireProgram('openssl'), args.split(' '), { stdio: ['ignore', 'ignore', 'pipe'] })
  return files
}
