import { webApplicationBuild } from '@vault-and-tracker/web-kit/vite'
import { defineConfig } from 'vite'

export default defineConfig(webApplicationBuild({ root: import.meta.dirname }))
