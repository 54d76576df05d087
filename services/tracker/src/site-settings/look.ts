import type { CurrentSite } from './site-settings.ts'

/** The colour of the designed mark, which an accent replaces. */
const DESIGNED = '#3b5bdb'
const NAME = 'Tracker'

/** The path of a logo, which its content names. */
export function logoPath(digest: string): string {
  return `/logo-${digest}.png`
}

/** The path of the icon in the look of the site. */
function iconPath({ logo, accent }: Pick<CurrentSite, 'logo' | 'accent'>): string {
  if (logo !== null) return logoPath(logo)
  return accent === null ? '/icon.svg' : `/icon-${accent.slice(1)}.svg`
}

/** The designed mark in an accent colour. The lines are white, or dark on a light colour. */
export function markIn(accent: string, mark: string): string {
  const lines = isLight(accent) ? '#171b21' : '#fff'
  return mark.replaceAll(DESIGNED, accent).replaceAll('stroke="#fff"', `stroke="${lines}"`)
}

/** Whether dark lines stand out more than white ones, according to the weights of WCAG. */
function isLight(accent: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(
    (at) => (Number.parseInt(accent.slice(at, at + 2), 16) / 255) ** 2.2,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.4
}

/** How the page of the web application differs from the built one. */
export function lookOf(site: Pick<CurrentSite, 'name' | 'logo' | 'accent'>) {
  const { name, accent } = site
  return {
    ...(name !== null && { name }),
    icon: iconPath(site),
    ...(accent !== null && { style: `:root{--brand:${accent}}` }),
  }
}

/** What installs the site as an application (W3C Web Application Manifest). */
export function manifestOf(site: Pick<CurrentSite, 'name' | 'logo' | 'accent'>) {
  const name = site.name ?? NAME
  const icon = iconPath(site)
  return {
    name,
    short_name: name,
    start_url: '/torrents',
    display: 'standalone',
    background_color: '#f6f7f9',
    theme_color: '#ffffff',
    icons: [{ src: icon, sizes: 'any', type: icon.endsWith('.png') ? 'image/png' : 'image/svg+xml' }],
  }
}
