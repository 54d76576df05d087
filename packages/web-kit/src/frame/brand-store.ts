import { createStore, type Store } from '../start/store.ts'

/** The name and the icon of the site. */
export type BrandState = { readonly name: string; readonly mark: string }

let store: Store<BrandState> | undefined

/** The brand with which the document was served: its title and its icon. */
export function brand(): Store<BrandState> {
  return (store ??= createStore({ name: document.title, mark: iconLink()?.href ?? '' }))
}

/** Shows another brand on all pages, without loading them again. */
export function showBrand(changed: BrandState): void {
  brand().set(changed)
  const link = iconLink()
  if (link === null) return
  link.removeAttribute('type')
  link.href = changed.mark
}

/** Derives the colours of the page from an accent colour; undefined for the one with which it was served. */
export function showAccent(accent: string | undefined): void {
  const { style } = document.documentElement
  if (accent === undefined) style.removeProperty('--brand')
  else style.setProperty('--brand', accent)
}

function iconLink(): HTMLLinkElement | null {
  return document.querySelector<HTMLLinkElement>('link[rel="icon"]')
}
