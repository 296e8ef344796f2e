import { want } from '@/messages'

export { default } from '@/operate/settings'

want('pages')
