import { applicationName } from './use-page-title.ts'

/** The mark and the name of the site, as the document names them: its icon and its title. */
export function Brand() {
  return (
    <>
      <img className="brand-mark" src={markAddress()} alt="" width={24} height={24} />
      <span className="brand-name">{applicationName()}</span>
    </>
  )
}

let mark: string | undefined

/** The address of the icon that the document was served with. */
function markAddress(): string {
  return (mark ??= document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? '')
}
