import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import type { ViteUserConfig } from 'vitest/config'

const MOST = 200_000
const FIRST = ['/src/main.tsx', '/pages/home.tsx']
/** What an empty installation shows, and what only that says. */
const EMPTY = ['/pages/empty.tsx', '/LANGUAGE/templates.ts']

/** Prints what a first visit loads in each language, and fails the build where that is more than 200 kB of JavaScript. */
function firstLoad(): Plugin {
  return {
    name: 'first-load',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((part) => part.type === 'chunk')
      const sizeOf = (ends: string[]): number => {
        const wanted = new Set<string>()
        const take = (name: string) => {
          const part = bundle[name]
          if (wanted.has(name) || part?.type !== 'chunk') return
          wanted.add(name)
          part.imports.forEach(take)
        }
        for (const end of ends) {
          const found = chunks.find((part) => part.moduleIds.some((id) => id.endsWith(end)))
          if (found) take(found.fileName)
          else this.error(`no file has ${end}`)
        }
        return [...wanted].reduce((sum, name) => sum + gzipSync((bundle[name] as { code: string }).code).length, 0)
      }
      for (const language of ['en', 'de']) {
        const some = [...FIRST, `/messages/${language}.ts`]
        const sizes = [some, [...some, ...EMPTY]].map((ends) => sizeOf(ends.map((end) => end.replace('LANGUAGE', language))))
        this.info(`first load (${language}): ${sizes.map((size) => (size / 1000).toFixed(0)).join(' kB, empty ')} kB of JavaScript, gzipped (200 at most)`)
        if (Math.max(...sizes) > MOST && !process.env.PENSTOCK_PROFILE) this.error('the first load is more than 200 kB of JavaScript: load a part of it later')
      }
    },
  }
}

export default {
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  base: '/app/',
  plugins: [react(), tailwindcss(), firstLoad()],
  build: {
    outDir: '../src/penstock/web/dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    modulePreload: { polyfill: false },
  },
  test: { setupFiles: ['src/messages/every.ts'] },
  server: { proxy: { '/api': 'http://127.0.0.1:7777', '/openapi.json': 'http://127.0.0.1:7777' } },
} satisfies ViteUserConfig
