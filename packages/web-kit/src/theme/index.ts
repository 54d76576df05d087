/** A choice of the reader that this browser remembers, applied as an attribute of the document. */
function createChoice<const Value extends string>(key: string, values: readonly [Value, ...Value[]]) {
  const [initial] = values
  const remembered = (): Value => {
    const kept = localStorage.getItem(key)
    return values.find((value) => value === kept) ?? initial
  }
  const apply = (value: Value): void => {
    if (value === initial) {
      localStorage.removeItem(key)
      document.documentElement.removeAttribute(`data-${key}`)
    } else {
      localStorage.setItem(key, value)
      document.documentElement.dataset[key] = value
    }
  }
  return {
    remembered,
    apply,
    /** The value after another one, in turn. */
    after: (value: Value): Value => values[(values.indexOf(value) + 1) % values.length] ?? initial,
  }
}

/** Light, dark, or that of the system. */
export const theme = createChoice('theme', ['system', 'light', 'dark'])
/** The height of rows and controls. */
export const density = createChoice('density', ['comfortable', 'compact'])
