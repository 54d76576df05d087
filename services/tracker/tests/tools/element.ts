/** An element with its namespace written out: `{http://torznab.com/schemas/2015/feed}attr`. */
export type Element = {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
  readonly children: readonly Element[]
}

const TORZNAB = '{http://torznab.com/schemas/2015/feed}'

export function childrenOf(element: Element | undefined, name: string): readonly Element[] {
  return element?.children.filter((child) => child.name === name) ?? []
}

export function childOf(element: Element | undefined, name: string): Element | undefined {
  return childrenOf(element, name)[0]
}

/** The values of an item's extended attributes of a name. */
export function torznabValues(item: Element, name: string): readonly string[] {
  return childrenOf(item, `${TORZNAB}attr`).flatMap(({ attributes }) =>
    attributes['name'] === name ? [attributes['value'] ?? ''] : [],
  )
}

/** All elements of a name, at any depth. */
export function descendants(element: Element, name: string): readonly Element[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...descendants(child, name)])
}
