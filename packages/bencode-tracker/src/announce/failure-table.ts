/** A failure of an announce or a scrape. */
export type FailureDefinition = {
  /** The message for clients: a short fixed English sentence. */
  readonly reason: string
  /** BEP 31: minutes to wait before trying again, or `never`; the default of the reply's `retry in`. */
  readonly retryIn: number | 'never'
  /** HTTP status of the reply. Clients ignore bodies with other statuses than 200, so only limits use others. */
  readonly status: 200 | 429
}

/**
 * All failures by their stable names for metrics, logs and the admin pages. The messages are fixed, so that the number
 * of reasons is bounded. `never` means that a retry can only succeed after the user or a moderator acts.
 */
export const FAILURES = {
  // The request itself.
  missing_info_hash: { reason: 'Missing info_hash', retryIn: 'never', status: 200 },
  missing_peer_id: { reason: 'Missing peer_id', retryIn: 'never', status: 200 },
  missing_port: { reason: 'Missing port', retryIn: 'never', status: 200 },
  missing_uploaded: { reason: 'Missing uploaded', retryIn: 'never', status: 200 },
  missing_downloaded: { reason: 'Missing downloaded', retryIn: 'never', status: 200 },
  missing_left: { reason: 'Missing left', retryIn: 'never', status: 200 },
  invalid_info_hash: { reason: 'Invalid info_hash: it must be 20 bytes', retryIn: 'never', status: 200 },
  invalid_peer_id: { reason: 'Invalid peer_id: it must be 20 bytes', retryIn: 'never', status: 200 },
  invalid_port: { reason: 'Invalid port: send a number from 0 to 65535', retryIn: 'never', status: 200 },
  invalid_uploaded: { reason: 'Invalid uploaded: send a number of bytes', retryIn: 'never', status: 200 },
  invalid_downloaded: { reason: 'Invalid downloaded: send a number of bytes', retryIn: 'never', status: 200 },
  invalid_left: { reason: 'Invalid left: send a number of bytes', retryIn: 'never', status: 200 },
  invalid_event: { reason: 'Invalid event: send started, completed, stopped or paused', retryIn: 'never', status: 200 },
  invalid_compact: { reason: 'Invalid compact: send 0 or 1', retryIn: 'never', status: 200 },
  invalid_no_peer_id: { reason: 'Invalid no_peer_id: send 0 or 1', retryIn: 'never', status: 200 },
  invalid_numwant: { reason: 'Invalid numwant: send a number', retryIn: 'never', status: 200 },
  invalid_key: { reason: 'Invalid key', retryIn: 'never', status: 200 },
  invalid_trackerid: { reason: 'Invalid trackerid', retryIn: 'never', status: 200 },
  invalid_ip: { reason: 'Invalid ip, ipv4 or ipv6', retryIn: 'never', status: 200 },
  invalid_query: { reason: 'Invalid query: percent-encode what is not ASCII', retryIn: 'never', status: 200 },
  several_info_hashes: { reason: 'An announce takes one info_hash', retryIn: 'never', status: 200 },
  repeated_parameter: { reason: 'A parameter is given twice', retryIn: 'never', status: 200 },
  query_too_long: { reason: 'The query is too long', retryIn: 'never', status: 200 },
  scrape_without_info_hash: { reason: 'A scrape needs an info_hash', retryIn: 'never', status: 200 },
  too_many_info_hashes: { reason: 'A scrape takes at most 74 info_hash', retryIn: 'never', status: 200 },
  // A message of a WebSocket.
  invalid_message: { reason: 'Invalid message: send a JSON object with an action', retryIn: 'never', status: 200 },
  invalid_offers: { reason: 'Invalid offers: send a list of offer and offer_id', retryIn: 'never', status: 200 },
  invalid_answer: { reason: 'Invalid answer: send to_peer_id, offer_id and answer', retryIn: 'never', status: 200 },
  several_peer_ids: { reason: 'A connection takes one peer_id for each torrent', retryIn: 'never', status: 200 },
  peer_id_in_use: { reason: 'This peer_id is in use on another connection', retryIn: 5, status: 200 },
  too_many_torrents: { reason: 'Too many torrents on one connection', retryIn: 60, status: 200 },
  // The user.
  missing_passkey: { reason: 'Missing passkey: download the .torrent file again', retryIn: 'never', status: 200 },
  invalid_passkey: { reason: 'Invalid passkey: download the .torrent file again', retryIn: 'never', status: 200 },
  unknown_passkey: { reason: 'Unknown passkey: download the .torrent file again', retryIn: 'never', status: 200 },
  account_suspended: { reason: 'Your account is suspended', retryIn: 60, status: 200 },
  account_banned: { reason: 'Your account is banned', retryIn: 'never', status: 200 },
  downloads_disabled: { reason: 'Your download privileges are disabled', retryIn: 60, status: 200 },
  // The torrent.
  unregistered_torrent: { reason: 'Unregistered torrent', retryIn: 60, status: 200 },
  deleted_torrent: { reason: 'Unregistered torrent', retryIn: 'never', status: 200 },
  rejected_torrent: { reason: 'This torrent was rejected by the moderators', retryIn: 'never', status: 200 },
  // The client.
  client_not_allowed: { reason: 'Your client is not allowed', retryIn: 'never', status: 200 },
  refused_port: { reason: 'Your listening port is not allowed: choose another', retryIn: 60, status: 200 },
  address_not_usable: { reason: 'Your address cannot be used', retryIn: 60, status: 200 },
  // The service.
  announce_limit: { reason: 'Too many announces: slow down', retryIn: 1, status: 429 },
  scrape_limit: { reason: 'Too many scrapes: slow down', retryIn: 1, status: 200 },
  passkey_limit: { reason: 'Too many unknown passkeys from your address', retryIn: 1, status: 200 },
  tracker_unavailable: { reason: 'The tracker is temporarily unavailable', retryIn: 5, status: 200 },
  internal_error: { reason: 'Internal tracker error', retryIn: 5, status: 200 },
} as const satisfies Readonly<Record<string, FailureDefinition>>

export type FailureName = keyof typeof FAILURES
