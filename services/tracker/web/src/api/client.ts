import { createApi } from '@vault-and-tracker/web-kit/api'
import { createAccountGuard } from '@vault-and-tracker/web-kit/start'
import type { components, paths } from '../../generated/openapi.ts'

/** The account that the page shows. */
export const account = createAccountGuard()

/** The tracker's REST API. */
export const api = createApi<paths>()

/** What visitors may do who have not signed in yet. */
const PUBLIC: ReadonlySet<string> = new Set([
  '/api/auth/login',
  '/api/auth/second-factor',
  '/api/auth/register',
  '/api/setup',
  '/api/auth/password-link',
  '/api/auth/password',
  '/api/auth/email',
])

api.use({
  onRequest: ({ schemaPath }) => {
    if (!PUBLIC.has(schemaPath)) account.require()
  },
})

type Schemas = components['schemas']
export type Start = Schemas['Start']
export type Rules = Schemas['Rules']
export type RulesVersion = Schemas['RulesVersion']
export type ListedTorrent = Schemas['ListedTorrent']
export type Torrent = Schemas['Torrent']
export type TorrentPreview = Schemas['TorrentPreview']
export type Release = Schemas['Release']
export type RelatedTorrent = Schemas['RelatedTorrent']
export type TorrentDetails = Schemas['TorrentDetails']
export type TorrentHistory = Schemas['TorrentHistory']
export type Report = Schemas['Report']
export type OwnUser = Schemas['OwnUser']
export type UserStats = Schemas['UserStats']
export type Session = Schemas['Session']
export type Invite = Schemas['Invite']
export type Notice = Schemas['Notice']
export type NoticeSettings = Schemas['NoticeSettings']
export type CategoryTree = Schemas['CategoryTree']
export type TransferDay = Schemas['TransferDay']
export type Webhook = Schemas['Webhook']
export type SavedSearch = Schemas['SavedSearch']
export type CountedSavedSearch = Schemas['CountedSavedSearch']
export type FeedToken = Schemas['FeedToken']
export type ApiToken = Schemas['ApiToken']
export type OwnTorrent = Schemas['OwnTorrent']
export type TorznabUsage = Schemas['TorznabUsage']
export type SwarmTotals = Schemas['SwarmTotals']
export type SwarmHistory = Schemas['SwarmHistory']
export type BusyTorrent = Schemas['BusyTorrent']
export type Peer = Schemas['Peer']
export type Overview = Schemas['Overview']
export type TorznabStatistics = Schemas['TorznabStatistics']
export type TorznabSettings = Schemas['TorznabSettings']
export type TorznabPreset = Schemas['TorznabPreset']
export type UserAddress = Schemas['UserAddress']
export type TorznabUser = Schemas['TorznabUser']
export type TorznabRequest = Schemas['TorznabRequest']
export type TorznabBlock = Schemas['TorznabBlock']
export type TorznabAddress = Schemas['TorznabAddress']
export type Clients = Schemas['Clients']
export type StaffNote = Schemas['StaffNote']
export type ClientRule = Schemas['ClientRule']
export type ClientVerdict = Schemas['ClientVerdict']
export type ManagedCategory = Schemas['ManagedCategory']
export type ManagedUser = Schemas['ManagedUser']
export type ManagedUserDetails = Schemas['ManagedUserDetails']
export type UserSession = Schemas['UserSession']
export type AdminLogEntry = Schemas['AdminLogEntry']
export type SecondFactor = Schemas['SecondFactor']
export type Site = Schemas['Site']
export type SiteSettings = Schemas['SiteSettings']
