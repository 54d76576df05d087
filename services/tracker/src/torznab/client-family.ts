/**
 * Families of applications by their User-Agent. The first match counts: applications come before the libraries they
 * use, and browsers late, because several applications send a browser's User-Agent with their own name in it.
 */
const PATTERNS = {
  Sonarr: /\b(?:Nzb)?sonarr\b|\bNzbDrone\b/i,
  Radarr: /\bradarr\b/i,
  Lidarr: /\blidarr\b/i,
  Readarr: /\breadarr\b/i,
  Whisparr: /\bwhisparr\b/i,
  Prowlarr: /\bprowlarr\b/i,
  Jackett: /\bjackett\b/i,
  NZBHydra2: /\bnzbhydra ?2?\b/i,
  'cross-seed': /\bcross-?seed\b/i,
  autobrr: /\bautobrr\b/i,
  FlexGet: /\bflexget\b/i,
  Medusa: /\bmedusa\b/i,
  SickChill: /\bsick(?:chill|rage|gear|beard)\b/i,
  Mylar: /\bmylar3?\b/i,
  qBittorrent: /\bqbittorrent\b/i,
  browser: /^Mozilla\/\d.*\b(?:Firefox|Chrome|Safari|Gecko|Trident)\b|^Opera\//,
  library:
    /^(?:curl|Wget|python-requests|python-urllib|Python-httpx|aiohttp|Go-http-client|axios|node-fetch|undici|okhttp|Java|Apache-HttpClient|libwww-perl|Ruby|GuzzleHttp|RestSharp)\b|^node$/i,
} as const

/** The family of the application that sent a request. */
export function clientFamily(userAgent: string): string {
  const bounded = userAgent.slice(0, 300)
  return Object.entries(PATTERNS).find(([, pattern]) => pattern.test(bounded))?.[0] ?? 'other'
}
