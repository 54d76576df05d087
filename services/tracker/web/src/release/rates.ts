/** The percentage of downloads and uploads that is counted. A download rate of 0 is freeleech. */
export type Rates = { readonly downloadPercent: number; readonly uploadPercent: number }

/** The rates that differ from normal, in words. */
export function ratesText({ downloadPercent, uploadPercent }: Rates): readonly string[] {
  return [
    downloadPercent === 100 ? undefined : downloadPercent === 0 ? 'Freeleech' : `${downloadPercent} % download`,
    uploadPercent === 100 ? undefined : uploadPercent === 200 ? 'Double upload' : `${uploadPercent} % upload`,
  ].filter((text) => text !== undefined)
}
