/** Programs that are a Chromium. The first is preferred: without a window it takes half of the processor time. */
export const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
