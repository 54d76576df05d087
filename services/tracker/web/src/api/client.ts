import { createApi } from '@vault-and-tracker/web-kit/api'
import type { components, paths } from './schema.ts'

/** The tracker's REST API. */
export const api = createApi<paths>()

type Schemas = components['schemas']
export type ListedTorrent = Schemas['ListedTorrent']
export type Torrent = Schemas['Torrent']
export type TorrentPreview = Schemas['TorrentPreview']
export type Release = Schemas['Release']
export type OwnUser = Schemas['OwnUser']
export type UserStats = Schemas['UserStats']
export type Session = Schemas['Session']
export type Invite = Schemas['Invite']
export type CategoryTree = Schemas['CategoryTree']
export type TorznabStatistics = Schemas['TorznabStatistics']
export type TorznabSettings = Schemas['TorznabSettings']
export type TorznabPreset = Schemas['TorznabPreset']
export type TorznabUser = Schemas['TorznabUser']
export type TorznabRequest = Schemas['TorznabRequest']
export type TorznabBlock = Schemas['TorznabBlock']
export type ManagedCategory = Schemas['ManagedCategory']
export type ManagedUser = Schemas['ManagedUser']
export type ManagedUserDetails = Schemas['ManagedUserDetails']
export type UserSession = Schemas['UserSession']
export type AdminLogEntry = Schemas['AdminLogEntry']
export type SiteSettings = Schemas['SiteSettings']
