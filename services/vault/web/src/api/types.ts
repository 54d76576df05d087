import type { components } from '../../generated/openapi.ts'

type Schemas = components['schemas']
export type SignedInAdministrator = Schemas['SignedInAdministrator']
export type Administrator = Schemas['Administrator']
export type Project = Schemas['Project']
export type ProjectKey = Schemas['ProjectKey']
export type TrustRule = Schemas['TrustRule']
export type KeyOfProject = Schemas['KeyOfProject']
export type SecretMetadata = Schemas['SecretMetadata']
export type ExpiringSecret = Schemas['ExpiringSecret']
export type AuditEntry = Schemas['AuditEntry']
export type Overview = Schemas['Overview']
export type Activity = Schemas['Activity']
