const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/**
 * Formats a time for RSS 2.0 (RFC 822 with a year of four digits): `Tue, 05 Mar 2024 07:08:09 +0000`. autobrr requires
 * a numeric zone and a day of two digits, and discards the whole feed because of `GMT`.
 *
 * @throws RangeError for an invalid date or a year outside 0–9999
 */
export function rfc822Date(date: Date): string {
  const year = date.getUTCFullYear()
  const [day, month] = [DAYS[date.getUTCDay()], MONTHS[date.getUTCMonth()]]
  if (day === undefined || month === undefined || year < 0 || year > 9999) throw new RangeError('Not a date of RFC 822')
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(twoDigits).join(':')
  return `${day}, ${twoDigits(date.getUTCDate())} ${month} ${String(year).padStart(4, '0')} ${time} +0000`
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : `${number}`
}
