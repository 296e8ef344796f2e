import './styles/main.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { cache } from './api/queries'
import { applyTheme } from './app/theme'
import { router } from './app/router'
import { loadLanguage } from './messages'
import { nonce } from './ui/forms'

// Without it the browser refuses the style that keeps the page still behind a dialog.
;(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce()
applyTheme()
await loadLanguage()

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={cache}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}
