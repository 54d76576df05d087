/** The scopes of API tokens. */
export const SCOPES = ['torznab', 'download', 'upload', 'read', 'account'] as const
export type Scope = (typeof SCOPES)[number]

/**
 * The operations of the REST API that each scope opens, by operation id. All others need a session, and so do those of
 * staff. `torznab` opens searches of the Torznab API and feeds, `download` also their downloads.
 */
export const OPERATIONS: Readonly<Record<Scope | 'session', readonly string[]>> = {
  torznab: [],
  download: ['downloadTorrent'],
  upload: ['previewTorrent', 'uploadTorrent'],
  read: [
    'listTorrents',
    'countTorrentFacets',
    'getTorrent',
    'getTorrentDetails',
    'listTorrentFiles',
    'getTorrentHistory',
    'getRules',
    'streamEvents',
  ],
  account: [
    'getOwnUser',
    'getUserStats',
    'getTransferHistory',
    'listOwnTorrents',
    'getOwnTorrentTotals',
    'getOwnTorznabUsage',
    'listNotices',
    'countUnreadNotices',
    'markNoticeRead',
    'markAllNoticesRead',
    'addBookmark',
    'removeBookmark',
    'listSavedSearches',
    'createSavedSearch',
    'changeSavedSearch',
    'deleteSavedSearch',
    'visitSavedSearch',
  ],
  // Listed so that each new operation of members is a decision; a test compares this table with the endpoints.
  session: [
    'getStart',
    'signOut',
    'listSessions',
    'endSessions',
    'endSession',
    'updateOwnUser',
    'changePassword',
    'resetOwnPasskey',
    'requestEmailLink',
    'listSecondFactors',
    'startTotp',
    'confirmTotp',
    'startSecurityKey',
    'confirmSecurityKey',
    'renewRecoveryCodes',
    'removeSecondFactor',
    'listApiTokens',
    'createApiToken',
    'revokeApiToken',
    'listFeedTokens',
    'createFeed',
    'revokeFeed',
    'listInvites',
    'createInvite',
    'takeBackInvite',
    'getNoticeSettings',
    'updateNoticeSettings',
    'acceptRules',
    'requestReseed',
    'reportTorrent',
    'updateTorrent',
    'deleteTorrent',
    'listWebhooks',
    'addWebhook',
    'changeWebhook',
    'deleteWebhook',
    'testWebhook',
  ],
}

const SCOPE_OF: ReadonlyMap<string, Scope> = new Map(
  SCOPES.flatMap((scope) => OPERATIONS[scope].map((operation) => [operation, scope])),
)

/** The scope that opens an operation; undefined if it needs a session. */
export function scopeOf(operationId: string): Scope | undefined {
  return SCOPE_OF.get(operationId)
}
